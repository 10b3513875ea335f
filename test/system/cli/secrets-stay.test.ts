import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { HEADERS, PATHS } from '../../../src/wire/v1/limits.ts';
import { UploadService } from '../../support/agent/upload-service.ts';
import { makeTestFolder } from '../../support/process/test-folder.ts';
import { checkOf } from '../../support/samples/checks.ts';
import { encodingsOf } from '../../support/samples/secret-encodings.ts';
import {
  HEADER_KINDS,
  KINDS,
  leaksOf,
  secretOf,
  unpacked,
} from '../../support/samples/secret-leaks.ts';
import { startDnsResponder } from '../../support/servers/dns-responder.ts';
import { servingZone } from '../../support/servers/dns-zone.ts';
import { listen } from '../../support/servers/http-servers.ts';
import { listenTcp, refusingPort } from '../../support/servers/tcp-servers.ts';
import { startAgent, until } from '../../support/service/deployment.ts';

const LOCATION_KEY = `pl_${'5ecad4b1'.repeat(4)}`;
const FAR_MS = 3_600_000;

const SECRETS = {
  ACCOUNT: secretOf('ACCOUNT', KINDS),
  HEADER: secretOf('HEADER', HEADER_KINDS),
  OWN: secretOf('OWN', KINDS),
  FROM_ENV: secretOf('FROM_ENV', KINDS.slice(0, 7)),
  FROM_FILE: secretOf('FROM_FILE', KINDS),
  HOST: `Db-${randomBytes(8).toString('hex')}.localhost`,
};
/** The form of host names in queries and results. */
const HOST = SECRETS.HOST.toLowerCase();
type Name = keyof typeof SECRETS;
const NAMES = Object.keys(SECRETS) as Name[];

/** All secrets in all encodings: the answer of a target that encodes what it was sent. */
function echoOf(request: { readonly url: string; readonly body: string }): string {
  const forms = NAMES.flatMap((name) => Object.values(encodingsOf(SECRETS[name])));
  return JSON.stringify({ ...request, forms, text: forms.join(' ') });
}

/** As much of it as a result stores completely, without cutting a secret. */
function shortOf(body: string): string {
  const { forms } = JSON.parse(body) as { readonly forms: readonly string[] };
  const kept: string[] = [];
  for (const form of forms) if (JSON.stringify([...kept, form]).length < 9_000) kept.push(form);
  return JSON.stringify({ ...JSON.parse(body), forms: kept, text: '' });
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { url = '', headers } = request;
  const body = echoOf({ url, body: await read(request) });
  const kind = new URL(url, 'http://x').searchParams.get('kind');
  const shown = encodeURIComponent(SECRETS.ACCOUNT);
  if (kind === 'redirect') {
    response.writeHead(302, { location: `/?kind=short&token=${shown}` }).end();
    return;
  }
  const own = { 'x-echo': String(headers['x-secret']), 'set-cookie': `id=${SECRETS.HEADER}` };
  const named = { [`x-${Buffer.from(SECRETS.OWN).toString('hex')}`]: 'name', ...own };
  if (kind === 'binary') {
    response.writeHead(500, { 'content-type': 'application/octet-stream', ...named });
    response.end(Buffer.concat([randomBytes(7), Buffer.from(body), randomBytes(7)]));
    return;
  }
  const status = kind === 'short' ? 200 : 500;
  response.writeHead(status, { 'content-type': 'application/json', ...named });
  const long = Array.from({ length: 200 }, () => body).join('\n');
  response.end(kind === 'long' ? long : shortOf(body));
}

interface Ports {
  readonly http: number;
  readonly tcp: number;
  readonly closed: number;
  readonly dns: number;
}

/** Templates of every secret in every field that takes them. */
function checksFor({ http: httpPort, tcp: tcpPort, closed: closedPort, dns: dnsPort }: Ports) {
  const braces = (name: Name): string => `{{${name}}}`;
  const query = NAMES.map((name) => `${name}=${braces(name)}`).join('&');
  const all = NAMES.map(braces).join('|');
  const own = {
    retryStrategy: null,
    variables: [{ key: 'OWN', value: SECRETS.OWN, secret: true }],
  };
  const api = (kind: string, port: number, more: object = {}) =>
    checkOf('API', {
      ...own,
      id: `api-${kind}-${port}`,
      request: {
        method: 'POST',
        url: `http://127.0.0.1:${port}/{{ACCOUNT}}?kind=${kind}&${query}`,
        headers: [{ key: 'x-secret', value: '{{HEADER}}' }],
        queryParameters: [{ key: '{{FROM_ENV}}', value: '{{{FROM_FILE}}}' }],
        bodyType: 'RAW',
        body: all,
        basicAuth: { username: '{{OWN}}', password: '{{ACCOUNT}}' },
        assertions: [
          {
            source: 'TEXT_BODY',
            property: '',
            comparison: 'EQUALS',
            target: 'another',
            regex: null,
          },
          { source: 'HEADERS', property: 'x-echo', comparison: 'EQUALS', target: 'b', regex: null },
          {
            source: 'JSON_BODY',
            property: '$.url',
            comparison: 'EQUALS',
            target: 'c',
            regex: null,
          },
        ],
        ...more,
      },
    });
  return [
    ...['short', 'redirect', 'binary', 'long'].map((kind) => api(kind, httpPort)),
    api('closed', closedPort),
    api('invalid', httpPort, { headers: [{ key: 'x-secret', value: '{{FROM_FILE}}\n'.trim() }] }),
    checkOf('URL', {
      ...own,
      id: 'url-resolve',
      request: { url: `http://127.0.0.1:${httpPort}/?kind=short&a={{ACCOUNT}}&b={{{HEADER}}}#x` },
    }),
    // The log shows 300 characters of an address.
    checkOf('URL', {
      ...own,
      id: 'url-cut',
      request: { url: `http://{{HOST}}:${httpPort}/${'p'.repeat(200)}{{ACCOUNT}}?kind=binary` },
    }),
    checkOf('TCP', {
      ...own,
      id: 'tcp-echo',
      request: {
        hostname: '127.0.0.1',
        port: tcpPort,
        data: all,
        assertions: [
          { source: 'RESPONSE_DATA', property: '', comparison: 'EQUALS', target: 'x', regex: null },
        ],
      },
    }),
    // These checks take no templates, but may contain the same names and texts.
    ...['TXT', 'A'].map((recordType) =>
      checkOf('DNS', {
        ...own,
        id: `dns-${recordType}`,
        request: {
          ...{ query: HOST, recordType, nameServer: '127.0.0.1', port: dnsPort },
          assertions: ['TEXT_ANSWER', 'JSON_ANSWER'].map((source) => ({
            ...{ source, property: '', comparison: 'EQUALS', target: 'x', regex: null },
          })),
        },
      }),
    ),
    checkOf('ICMP', {
      ...own,
      id: 'icmp-name',
      request: { hostname: HOST, pingCount: 1, assertions: [] },
      maxPacketLossThreshold: 0,
    }),
    checkOf('TCP', { ...own, id: 'tcp-name', request: { hostname: HOST, port: closedPort } }),
  ];
}

/** The service sends each check once, as an immediate one-off run. */
function pollAnswer(checks: readonly ReturnType<typeof checkOf>[], first: boolean): object {
  const nowMs = Date.now();
  return {
    revision: 1,
    epoch: 1,
    leaseMs: 15_000,
    serverTime: nowMs,
    location: {
      slug: 'office',
      proxyUrl: null,
      variables: [
        { key: 'ACCOUNT', value: SECRETS.ACCOUNT, secret: true },
        { key: 'HEADER', value: SECRETS.HEADER, secret: true },
        { key: 'HOST', value: SECRETS.HOST, secret: true },
      ],
      settings: null,
    },
    full: first,
    upsert: first
      ? checks.map(({ id, ...check }) => ({
          checkId: id,
          slots: { periodMs: FAR_MS, phaseMs: (nowMs + FAR_MS / 2) % FAR_MS, stride: 1, index: 0 },
          check,
        }))
      : [],
    remove: [],
    runs: first
      ? checks.map(({ id, ...check }, index) => ({
          runId: `run-${index}`,
          checkId: id,
          check,
          reason: 'requested',
          slot: nowMs + index,
          sequenceId: `sequence-${index}`,
          notBefore: null,
          notAfter: nowMs + FAR_MS,
          retriesMade: 0,
          firstStartedAt: null,
        }))
      : [],
    nextPage: null,
  };
}

function filesIn(folder: string): readonly string[] {
  return (
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      // The agent may replace files while they are read.
      .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
  );
}

/** The header of a file of tcpdump. */
function isCapture(bytes: Buffer): boolean {
  return bytes.length >= 4 && bytes.readUInt32LE() === 0xa1b2c3d4;
}

it('lets no secret out: not to the service, the log, stdout, the spool or an artifact (trust model SN13)', async () => {
  const server = createServer((request, response) => void answer(request, response));
  const httpPort = await listen(server);
  onTestFinished(() => void server.close());
  const echo = await listenTcp((socket) => {
    socket.once('data', () => socket.end(echoOf({ url: '', body: '' })));
  });
  const closed = await refusingPort();
  const data = `a ${SECRETS.HEADER} b`;
  const zone = { [`${HOST} 16`]: [{ name: HOST, type: 'TXT', data } as const] };
  const names = await startDnsResponder({ udp: servingZone(zone) });
  onTestFinished(() => names.close());
  const ports = { http: httpPort, tcp: echo.port, closed: closed.port, dns: names.port };
  const checks = checksFor(ports);

  const service = await UploadService.start();
  service.partBytes = 1024 * 1024;
  let polls = 0;
  service.always(PATHS.poll, (_request, response) => {
    polls += 1;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(pollAnswer(checks, polls === 1)));
  });
  // So that everything is in the spool to be searched first.
  const busy = (_request: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(503, { 'retry-after': '1' }).end();
  };
  for (const path of [PATHS.results, PATHS.artifacts]) service.always(path, busy);

  const [dataDir, variablesDir, printed] = [makeTestFolder(), makeTestFolder(), makeTestFolder()];
  writeFileSync(join(variablesDir, 'FROM_FILE'), SECRETS.FROM_FILE);
  const stdoutFile = join(printed, 'stdout');
  const agent = await startAgent({
    serviceUrl: service.url.href,
    key: LOCATION_KEY,
    dataDir,
    stdoutFile,
    env: {
      FROM_ENV: SECRETS.FROM_ENV,
      VARIABLES_FROM_ENV: 'FROM_ENV',
      VARIABLES_DIR: variablesDir,
      LOG_LEVEL: 'trace',
    },
  });
  const lines = (): readonly string[] => readFileSync(stdoutFile, 'utf8').trim().split('\n');
  await until(
    async () => lines().length,
    (count) => count >= checks.length,
  );
  await until(
    async () => filesIn(dataDir).some((path) => path.includes('artifacts')),
    (isThere) => isThere,
  );
  const spooled = Object.fromEntries(filesIn(dataDir).map((path) => [path, readFileSync(path)]));
  service.restore();
  service.always(PATHS.poll, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(pollAnswer(checks, false)));
  });
  await until(
    async () => service.taken.length,
    (count) => count >= checks.length,
  );
  await until(
    async () => service.uploads.size,
    (count) => count >= 1,
  );
  expect(await agent.kill('SIGTERM')).toBe(0);

  const sent = service.seen.map(({ path, body, headers }, index) => {
    const { [HEADERS.authorization]: _, ...rest } = headers;
    return [
      `request ${index} ${path}`,
      Buffer.concat([unpacked(body), Buffer.from(JSON.stringify(rest))]),
    ];
  });
  const artifacts = [...service.uploads].map(([id, { content, parts }]) => [
    `artifact ${id}`,
    content ?? Buffer.concat([...parts.values()]),
  ]);
  const places: Readonly<Record<string, Buffer>> = {
    ...spooled,
    ...Object.fromEntries([...sent, ...artifacts]),
    stdout: readFileSync(stdoutFile),
    log: Buffer.from(agent.log()),
  };
  // Packets are kept as they were (src/scrub/README.md, "What is masked, and where").
  const scrubbed = Object.entries(places).filter(([, bytes]) => !isCapture(bytes));
  const secrets = { ...SECRETS, 'HOST in small letters': HOST };
  expect(leaksOf(secrets, Object.fromEntries(scrubbed))).toEqual([]);

  // Proves that the checks ran: otherwise nothing could leak.
  const results = lines().map((line) => JSON.parse(line));
  const shown = results.filter(({ apiCheckResult }) => apiCheckResult?.response);
  expect(shown.length).toBe(6);
  for (const { apiCheckResult, checkType } of shown) {
    expect(apiCheckResult.request.url).toContain('********');
    if (checkType === 'API') {
      expect(apiCheckResult.request.headers.authorization).toBe('********');
    }
  }
  const ofCheck = (id: string) => JSON.stringify(results.find(({ checkId }) => checkId === id));
  // After a # of the secret its last characters may remain: the part before is masked by itself.
  expect(ofCheck('url-cut')).toMatch(/p\*{8}\S{0,90}: 500/);
  expect(ofCheck('url-cut')).toContain('******** is 127.0.0.1');
  expect(ofCheck('dns-TXT')).toContain('a ******** b');
  expect(ofCheck('icmp-name')).toContain('"hostname":"********"');
  expect(ofCheck('tcp-name')).toContain('towards ********:');
  expect(readFileSync(stdoutFile, 'utf8')).toContain('REQUEST_INVALID');
  expect(readFileSync(stdoutFile, 'utf8')).toContain('CONNECT_REFUSED');
  expect(leaksOf(SECRETS, { itself: Buffer.from(echoOf({ url: '', body: '' })) })).not.toEqual([]);
  const long = artifacts.find(([id]) => String(id).includes('response-body'));
  expect(String(long?.[1])).toContain('********');
});
