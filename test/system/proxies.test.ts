import { randomBytes, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { metricsOf } from '../support/agent/agent-metrics.ts';
import { IS_NIGHTLY } from '../support/nightly.ts';
import { lacking } from '../support/process/system-needs.ts';
import { makeTestFolder } from '../support/process/test-folder.ts';
import { type Authority, createAuthority, type Identity } from '../support/servers/certificates.ts';
import {
  type RealProxyOptions,
  startSquid,
  startTinyproxy,
} from '../support/servers/real-proxies.ts';
import { listening } from '../support/servers/tcp-servers.ts';
import { tlsRelay } from '../support/servers/tls-relay.ts';
import { download } from '../support/service/artifact-service.ts';
import {
  type RunningService,
  startAgent,
  startService,
  until,
  untilResults,
} from '../support/service/deployment.ts';

const missing = lacking({ commands: ['tinyproxy', 'squid'], files: [] });
const SUITE = `real proxies${missing === null ? '' : ` (lacks ${missing})`}`;
/** Each test starts several processes, on a possibly busy machine. */
const LIMIT = { timeout: 300_000 };

const CREDENTIALS = { user: 'ann', password: 's3-cr.t' };
const IN_URL = 'ann:s3%2Dcr%2Et@';
const SECRET = /s3-cr\.t|s3%2Dcr|YW5uOn/;
const BODY_BYTES = 5 * 1024 * 1024;

let authority: Authority;
let identity: Identity;
let caFile: () => string;
/** Serves all tests: each has a location of its own. */
let service: RunningService;
const ends: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const end of ends) await end();
});
beforeAll(async () => {
  service = await startService({ atEnd: (end) => void ends.push(end) });
  authority = await createAuthority();
  identity = await authority.issue({ names: ['localhost'] });
  caFile = () => {
    const path = join(makeTestFolder(), 'roots.pem');
    writeFileSync(path, authority.cert);
    return path;
  };
});

/** A check that fails with a body of 5 MB, which is uploaded as an artifact: no other test has the same. */
async function deploy() {
  const body = randomBytes(BODY_BYTES);
  const target = await listening(
    createServer((_request, response) => {
      response.writeHead(500, { 'content-type': 'application/octet-stream' }).end(body);
    }),
  );
  onTestFinished(() => target.close());
  const { key, slug } = await service.addLocation(`cellar-${randomUUID()}`);
  const checkId = await service.addCheck('api', {
    name: 'large',
    frequency: 0,
    frequencyOffset: 10,
    privateLocations: [slug],
    retryStrategy: { type: 'NO_RETRIES' },
    request: { method: 'GET', url: `http://127.0.0.1:${target.port}/` },
  });
  return { key, checkId, body };
}

/** Resolves when the service has polls, results and the artifact. */
async function everythingArrived(
  agent: Awaited<ReturnType<typeof startAgent>>,
  { checkId, body }: { readonly checkId: string; readonly body: Buffer },
): Promise<void> {
  await until(
    () => metricsOf(agent),
    (metric) => metric('vedette_uploaded_total') >= 2 && metric('vedette_spool_records') === 0,
  );
  const { json: results } = await service.ask(`/v1/check-results/${checkId}`);
  // On a busy machine there is a newer result, whose artifact is on its way.
  const [asset] = results.flatMap(
    ({ apiCheckResult }: { apiCheckResult: { jobAssets: string[] } }) => apiCheckResult.jobAssets,
  );
  const whole = await download(service.port, asset, { key: service.apiKey, headers: {} });
  expect([whole.status, whole.body.equals(body)]).toEqual([200, true]);
  expect((await agent.health()).json.lastContact).not.toBeNull();
}

describe.skipIf(missing !== null)(SUITE, LIMIT, () => {
  it.each([
    ['tinyproxy', 'http', startTinyproxy],
    [
      'squid over TLS',
      'https',
      (options: RealProxyOptions) => startSquid({ ...options, identity }),
    ],
  ] as const)(
    'an http service through %s with credentials: polls, results, a 5 MB artifact',
    async (_name, scheme, start) => {
      const deployed = await deploy();
      const { key } = deployed;
      const proxy = await start({ credentials: CREDENTIALS });
      const agent = await startAgent({
        serviceUrl: `http://localhost:${service.port}`,
        key,
        dataDir: makeTestFolder(),
        env: {
          HTTP_PROXY: `${scheme}://${IN_URL}localhost:${proxy.port}`,
          NODE_EXTRA_CA_CERTS: caFile(),
        },
      });
      await everythingArrived(agent, deployed);
      expect(await agent.kill('SIGTERM')).toBe(0);
      const base = `http://localhost:${service.port}/agent/v1`;
      const asked = proxy.requests().join('\n');
      for (const path of ['poll', 'results', 'artifacts', 'release']) {
        expect(asked).toContain(`POST ${base}/${path}`);
      }
      expect(asked).toMatch(/PUT http:\/\/localhost:\d+\/agent\/v1\/artifacts\/[^ ]+\/parts\/1/);
      expect(agent.log()).not.toMatch(SECRET);
    },
  );

  it('an agent reaches an https service through squid over TLS, both with certificates of a private CA', async () => {
    const deployed = await deploy();
    const { key } = deployed;
    const relay = await tlsRelay(identity, service.port);
    const proxy = await startSquid({ credentials: CREDENTIALS, identity });
    const agent = await startAgent({
      serviceUrl: `https://localhost:${relay.port}`,
      key,
      dataDir: makeTestFolder(),
      env: {
        https_proxy: `https://${IN_URL}localhost:${proxy.port}`,
        // The other one would lead nowhere.
        HTTPS_PROXY: 'http://127.0.0.1:9',
        NODE_EXTRA_CA_CERTS: caFile(),
      },
    });
    await everythingArrived(agent, deployed);
    expect(await agent.kill('SIGTERM')).toBe(0);
    // The proxy sees nothing of the tunnel's contents.
    const asked = proxy.requests();
    expect(asked.length).toBeGreaterThan(0);
    expect(new Set(asked)).toEqual(new Set([`CONNECT localhost:${relay.port}`]));
    expect(agent.log()).not.toMatch(SECRET);
  });

  it('the service reaches its heartbeat monitor and webhooks through squid over TLS', async () => {
    const seen: string[] = [];
    const receiver = await listening(
      createTlsServer({ ...identity }, (request, response) => {
        seen.push(`${request.method} ${request.url}`);
        response.end('ok');
      }),
    );
    onTestFinished(() => receiver.close());
    const proxy = await startSquid({ credentials: CREDENTIALS, identity });
    const base = `https://localhost:${receiver.port}`;
    const behind = await startService({
      env: {
        HTTPS_PROXY: `https://${IN_URL}localhost:${proxy.port}`,
        NODE_EXTRA_CA_CERTS: caFile(),
        HEARTBEAT_URL: `${base}/beat`,
        DELIVERY_DENY: '10.0.0.0/8, 127.0.0.0/8, ::1',
        DELIVERY_ALLOW: '127.0.0.1',
      },
    });
    const { json: channel } = await behind.ask('/v1/alert-channels', {
      method: 'POST',
      body: { type: 'WEBHOOK', config: { name: 'Hook', url: `${base}/hook`, method: 'POST' } },
    });
    const tried = await behind.ask(`/v1/alert-channels/${channel.id}/test`, { method: 'POST' });
    expect(tried.json).toEqual({ delivered: true, status: 200, error: null });
    await until(
      async () => seen,
      () => seen.length >= 2,
    );
    expect(new Set(seen)).toEqual(new Set(['GET /beat', 'POST /hook']));
    expect(await behind.kill('SIGTERM')).toBe(0);
    // The name for the operator's own URL, and the address that was checked for a channel's.
    const asked = proxy.requests();
    expect(new Set(asked)).toEqual(
      new Set([`CONNECT localhost:${receiver.port}`, `CONNECT 127.0.0.1:${receiver.port}`]),
    );
    expect(behind.log()).not.toMatch(SECRET);
  });

  it('an agent names a proxy that goes away and uses it again when it is back', async () => {
    const deployed = await deploy();
    const { key } = deployed;
    const first = await startTinyproxy();
    const agent = await startAgent({
      serviceUrl: `http://localhost:${service.port}`,
      key,
      dataDir: makeTestFolder(),
      env: { http_proxy: `http://u:${CREDENTIALS.user}secret@127.0.0.1:${first.port}` },
    });
    await everythingArrived(agent, deployed);
    await first.stop();
    const log = await agent.logged(
      new RegExp(
        `through the proxy http://127\\.0\\.0\\.1:${first.port}\\) cannot be reached: no connection to the proxy: it refused`,
      ),
    );
    expect(log).not.toContain('annsecret');
    const second = await startTinyproxy({ port: first.port });
    await agent.logged(/the service answers polls again/);
    expect(second.requests().length).toBeGreaterThan(0);
    expect(await agent.kill('SIGTERM')).toBe(0);
  });

  it.each([
    ['tinyproxy', startTinyproxy],
    ['squid', startSquid],
  ])('wrong credentials at %s end nothing but the way to the service', async (_name, start) => {
    const { key, checkId } = await deploy();
    const relay = await tlsRelay(identity, service.port);
    const proxy = await start({ credentials: CREDENTIALS });
    for (const [serviceUrl, variable] of [
      [`http://localhost:${service.port}`, 'HTTP_PROXY'],
      [`https://localhost:${relay.port}`, 'HTTPS_PROXY'],
    ] as const) {
      const agent = await startAgent({
        serviceUrl,
        key,
        env: { [variable]: `http://ann:wr0ng@127.0.0.1:${proxy.port}` },
      });
      const log = await agent.logged(/cannot poll the service[^\n]*/);
      // One of the two reports 401.
      expect(log).toMatch(
        new RegExp(`the proxy rejected the user and password of ${variable} \\(40[17]\\)`),
      );
      expect(log).toContain('"kind":"offline"');
      expect(log).not.toContain('wr0ng');
      expect((await agent.health()).status).toBe(200);
      expect(await agent.kill('SIGTERM')).toBe(0);
    }
    expect((await service.ask(`/v1/check-results/${checkId}`)).json).toEqual([]);
  });

  it('an error contains the answer of tinyproxy for a port it does not tunnel to', async () => {
    const { key } = await deploy();
    const relay = await tlsRelay(identity, service.port);
    const proxy = await startTinyproxy({ connectPorts: [443] });
    const agent = await startAgent({
      serviceUrl: `https://localhost:${relay.port}`,
      key,
      env: { HTTPS_PROXY: `127.0.0.1:${proxy.port}` },
    });
    const log = await agent.logged(/cannot poll the service[^\n]*/);
    expect(log).toMatch(/the proxy answered 403 \(Access violation\) to CONNECT; its rules/);
  });

  it.each([
    ['tinyproxy', startTinyproxy, 'http'],
    // By day only over TLS.
    ...(IS_NIGHTLY ? [['squid', startSquid, 'http'] as const] : []),
    [
      'squid over TLS',
      (options: RealProxyOptions) => startSquid({ ...options, identity }),
      'https',
    ],
  ] as const)("a location's checks go through %s", async (_name, start, scheme) => {
    const answer = (_request: unknown, response: { end(text: string): unknown }) =>
      response.end('ok');
    const plain = await listening(createServer(answer));
    const secure = await listening(createTlsServer({ ...identity }, answer));
    onTestFinished(() => plain.close());
    onTestFinished(() => secure.close());
    const proxy = await start({ credentials: CREDENTIALS });
    const location = await service.addLocation(`cellar-${randomUUID()}`);
    const changed = await service.ask(`/v1/private-locations/${location.id}`, {
      method: 'PUT',
      body: {
        slug: location.slug,
        name: 'Cellar',
        proxyUrl: `${scheme}://${IN_URL}localhost:${proxy.port}`,
      },
    });
    expect(changed.status).toBe(200);
    const urls = [`http://localhost:${plain.port}/a`, `https://localhost:${secure.port}/b`];
    const ids: string[] = [];
    for (const url of urls) {
      ids.push(
        await service.addCheck('api', {
          name: url,
          frequency: 0,
          frequencyOffset: 10,
          privateLocations: [location.slug],
          retryStrategy: { type: 'NO_RETRIES' },
          request: { method: 'GET', url },
        }),
      );
    }
    const agent = await startAgent({
      serviceUrl: service.url,
      key: location.key,
      env: { NODE_EXTRA_CA_CERTS: caFile() },
    });
    for (const id of ids) {
      const { json } = await untilResults(service.ask, id);
      const [result] = json;
      expect(result).toMatchObject({
        hasFailures: false,
        apiCheckResult: { response: { status: 200, body: 'ok' } },
      });
      const { jobLog } = result.apiCheckResult;
      expect(JSON.stringify(jobLog)).toContain(
        `connecting through the proxy ${scheme}://localhost:${proxy.port}`,
      );
      expect(JSON.stringify(result)).not.toMatch(SECRET);
    }
    const asked = proxy.requests().join('\n');
    expect(asked).toContain(`GET ${urls[0]}`);
    expect(asked).toContain(`CONNECT localhost:${secure.port}`);
    expect(await agent.kill('SIGTERM')).toBe(0);
  });
});
