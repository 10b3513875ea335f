import { randomFillSync } from 'node:crypto';
import { isIP } from 'node:net';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openSocket } from '../../../src/agent/net/open-socket.ts';
import type { Resolver } from '../../../src/agent/net/resolver.ts';
import { SharedBodyMemory } from '../../../src/agent/probes/http/body/body-memory.ts';
import { BodyReader } from '../../../src/agent/probes/http/body/body-reader.ts';
import { decodeText } from '../../../src/agent/probes/http/body/decode-text.ts';
import { storedBodyOf } from '../../../src/agent/probes/http/body/stored-body.ts';
import { runExchange } from '../../../src/agent/probes/http/exchange.ts';
import { ResponseParser } from '../../../src/agent/probes/http/http1/response-parser.ts';
import { ResponseStart } from '../../../src/agent/probes/http/http1/response-start.ts';
import { redirectOf } from '../../../src/agent/probes/http/redirects.ts';
import { probeTcp } from '../../../src/agent/probes/tcp/probe.ts';
import { httpRunner } from '../../../src/agent/run/check-types/http.ts';
import { NOT_SCRUBBED } from '../../../src/agent/secrets/cut-scrubbed.ts';
import type { CheckOf } from '../../../src/model/check/check.ts';
import { tcpRequestSchema } from '../../../src/model/check/request/tcp.ts';
import { ERROR_CODES, type ErrorCode } from '../../../src/model/result/error-codes.ts';
import type { AddressGuard } from '../../../src/runtime/net/address-guard.ts';
import { readConnectResponse } from '../../../src/runtime/net/proxy/connect-response.ts';
import { httpDetail } from '../../../src/wire/v1/details/http-detail.ts';
import { tcpDetail } from '../../../src/wire/v1/details/tcp-detail.ts';
import { makeContext } from '../../support/agent/probe-context.ts';
import { checkOf } from '../../support/samples/checks.ts';
import { createSelfSigned } from '../../support/servers/certificates.ts';
import { randomBytes, segmentLengths, segmentsOf } from './support/responses/bytes.ts';
import { anyBody, bombBodies, contentTypes } from './support/responses/http-bodies.ts';
import { type HttpCase, type HttpLane, withHttpLanes } from './support/responses/http-lane.ts';
import {
  anyFrames,
  anyResponse,
  corpusFrames,
  corpusResponses,
  honestResponse,
} from './support/responses/http-responses.ts';
import { expectOutcome } from './support/responses/outcome.ts';
import { runCampaign } from './support/responses/probe-campaign.ts';

const LANES = 16;
const TIMEOUT_MS = 600_000 * Number(process.env.BREAK_FACTOR ?? '1');
const DEADLINE_MS = 30_000;
/** Deadline of a case that ends in silence. */
const SHORT_DEADLINE_MS = 150;
const SHORT_TLS_DEADLINE_MS = 700;
const MAX_BODY_BYTES = 25 * 1024 * 1024;

/** No other program listens on this address, so redirects lead nowhere else. */
const HOST = '127.77.0.1';
const guard: AddressGuard = {
  isActive: true,
  deniedBy: (address) => (address === HOST ? null : 'all but the test'),
};
const resolver: Resolver = {
  resolve(hostname, family) {
    const address = isIP(hostname) === 0 ? HOST : hostname;
    if (isIP(address) === family) return Promise.resolve({ ok: true, addresses: [address] });
    const message = `${hostname} has no IPv${family} address`;
    return Promise.resolve({ ok: false, failure: { code: 'DNS_NO_ADDRESS', message } });
  },
};

const TIME_OUTS: readonly ErrorCode[] = [
  'CONNECT_TIMEOUT',
  'TLS_TIMEOUT',
  'RESPONSE_TIMEOUT',
  'BODY_TIMEOUT',
];
/** Failures that a server can cause, directly or through redirects. */
const FAILURES = (Object.keys(ERROR_CODES) as ErrorCode[]).filter(
  (code) =>
    ['connect', 'tls', 'response', 'body'].includes(ERROR_CODES[code].phase) &&
    code !== 'CONNECT_FAILED' &&
    code !== 'CLIENT_CERT_INVALID' &&
    !TIME_OUTS.includes(code),
);

/**
 * node:http2 reports neither every broken frame (Node 20 few) nor the end of the connection after
 * one: such a probe ends at its deadline, as with a silent server. Therefore all of these cases
 * have a short deadline, and many run at a time.
 */
const FRAMES_AT_ONCE = LANES * 6;

const BASE: Omit<HttpCase, 'bytes'> = {
  method: 'GET',
  segments: [],
  start: 'asked',
  ending: 'close',
};
const ENDINGS = ['close', 'reset', 'silence'] as const;

const room = new SharedBodyMemory(64 * 1024 * 1024);
const ROOM_BYTES = room.freeBytes;
const runner = httpRunner<'API'>({ clientCertificates: () => [], proxyUrl: () => null });

const checks = new Map<string, CheckOf<'API'>>();
function checkFor(base: string, method: HttpCase['method'], keepsBody: boolean): CheckOf<'API'> {
  const key = `${base} ${method} ${keepsBody}`;
  const known = checks.get(key);
  if (known !== undefined) return known;
  const assertion = { source: 'TEXT_BODY', property: '', comparison: 'NOT_EMPTY', target: '' };
  const made = checkOf('API', {
    request: {
      url: `${base}/`,
      method,
      ipFamily: 'IPv4',
      followRedirects: true,
      skipSSL: true,
      ...(method === 'POST' ? { body: 'sent', bodyType: 'RAW' } : {}),
      assertions: keepsBody ? [assertion] : [],
    },
  });
  checks.set(key, made);
  return made;
}

/** One probe of the lane, including its result. */
async function probed(lane: HttpLane, scheme: 'http' | 'https', httpCase: HttpCase) {
  const isSilent = httpCase.ending === 'silence' || scheme === 'https';
  lane.serve(httpCase);
  const shortMs = scheme === 'https' ? SHORT_TLS_DEADLINE_MS : SHORT_DEADLINE_MS;
  const deadlineInMs = isSilent ? shortMs : DEADLINE_MS;
  const context = makeContext({ deadlineInMs, guard, resolver });
  const host = scheme === 'http' ? HOST : 'localhost';
  const keepsBody = httpCase.segments.length > 0;
  const check = checkFor(`${scheme}://${host}:${lane.port}`, httpCase.method, keepsBody);
  const own = room.open(true);
  const probe = await runner.probe(check, context, own);
  const { failure, detail } = probe;
  const possible = isSilent ? [...FAILURES, ...TIME_OUTS] : FAILURES;
  const { apiCheckResult } = expectOutcome(failure, detail, context, possible);
  const { response, timingPhases } = httpDetail.parse(apiCheckResult);
  own.close();
  expect(failure !== null || response !== null).toBe(true);
  const { total, ...phases } = response?.timingPhases ?? timingPhases ?? { total: Number.NaN };
  const sum = Object.values(phases).reduce((left, right) => left + right, 0);
  expect(Math.abs(sum - total)).toBeLessThan(1);
  if (response !== null) {
    expect(response.status).toBeGreaterThanOrEqual(200);
    expect(response.bodyBytes).toBeLessThanOrEqual(MAX_BODY_BYTES);
  }
  return { failure, response, probe };
}

const outcomeName = ({ failure, response }: Awaited<ReturnType<typeof probed>>): string =>
  failure?.code ?? `${String(response?.status).charAt(0)}xx`;

const anyCase = fc
  .record({
    bytes: anyResponse,
    method: fc.constantFrom(
      'GET' as const,
      'GET' as const,
      'GET' as const,
      'HEAD' as const,
      'POST' as const,
    ),
    segments: segmentLengths,
    start: fc.oneof(
      { weight: 15, arbitrary: fc.constant('asked' as const) },
      { weight: 1, arbitrary: fc.constant('at once' as const) },
    ),
    ending: fc.constantFrom('close' as const, 'close' as const, 'close' as const, 'reset' as const),
  })
  .map((fields): HttpCase => fields);
const bytesOf = ({ bytes }: Pick<HttpCase, 'bytes'>): readonly Buffer[] => [bytes];

it('any HTTP/1 response gives a valid result', { timeout: TIMEOUT_MS }, async () => {
  await withHttpLanes(LANES, HOST, null, (lanes) =>
    runCampaign({
      name: 'HTTP/1 responses',
      cases: 14_000,
      atOnce: LANES,
      fixed: [
        ...corpusResponses.flatMap(({ bytes }) =>
          ENDINGS.map((ending): HttpCase => ({ ...BASE, bytes, ending })),
        ),
        { ...BASE, bytes: chunksOfOneOctet(gzipSync(randomFill(80_000))) },
      ],
      arbitrary: anyCase,
      bytesOf,
      corpus: 'http',
      run: async (httpCase, lane) =>
        outcomeName(await probed(laneOf(lanes, lane), 'http', httpCase)),
      mustSee: [
        ...['2xx', '4xx', 'PROTOCOL_ERROR', 'CONNECTION_CLOSED', 'CONNECTION_RESET'],
        ...['BODY_TRUNCATED', 'BODY_DECODE_FAILED', 'HEADERS_TOO_LARGE', 'TOO_MANY_REDIRECTS'],
        ...['REDIRECT_INVALID', 'CONNECT_REFUSED'],
      ],
    }),
  );
  expect(room.freeBytes).toBe(ROOM_BYTES);
});

it('any HTTP/1 response followed by silence gives a valid result', {
  timeout: TIMEOUT_MS,
}, async () => {
  await withHttpLanes(LANES * 4, HOST, null, (lanes) =>
    runCampaign({
      name: 'HTTP/1 responses, then silence',
      cases: 1000,
      atOnce: LANES * 4,
      fixed: [],
      arbitrary: anyCase.map((each): HttpCase => ({ ...each, ending: 'silence' })),
      bytesOf,
      corpus: 'http',
      run: async (httpCase, lane) =>
        outcomeName(await probed(laneOf(lanes, lane), 'http', httpCase)),
      mustSee: ['2xx', 'PROTOCOL_ERROR', 'RESPONSE_TIMEOUT', 'BODY_TIMEOUT'],
    }),
  );
});

it('valid HTTP/1 responses are read unchanged', { timeout: TIMEOUT_MS }, async () => {
  const arbitrary = fc
    .tuple(honestResponse, segmentLengths)
    .map(([honest, segments]) => ({ ...BASE, ...honest, segments }));
  await withHttpLanes(LANES, HOST, null, (lanes) =>
    runCampaign({
      name: 'honest HTTP/1 responses are taken as they are',
      cases: 1500,
      atOnce: LANES,
      fixed: [],
      arbitrary,
      bytesOf,
      corpus: 'http',
      async run({ status, version, plain, ...httpCase }, lane) {
        const ended = await probed(laneOf(lanes, lane), 'http', httpCase);
        expect(ended.failure).toBeNull();
        expect(ended.response).toMatchObject({ status, httpVersion: version });
        expect(ended.response?.bodyBytes).toBe(plain?.length);
        expect(ended.response?.headers['x-twice']).toBe('1, 2');
        return outcomeName(ended);
      },
      mustSee: ['2xx', '4xx', '5xx'],
    }),
  );
});

const framesCase = fc
  .record({
    bytes: anyFrames,
    segments: segmentLengths,
    ending: fc.constantFrom('close' as const, 'close' as const, 'reset' as const),
  })
  .map((fields): HttpCase => ({ ...BASE, ...fields }));
const fixedFrames = corpusFrames.flatMap(({ bytes }) =>
  ENDINGS.map((ending): HttpCase => ({ ...BASE, bytes, ending })),
);

it('any HTTP/2 frames give a valid result', { timeout: TIMEOUT_MS }, async () => {
  const identity = await createSelfSigned({ names: ['localhost'] });
  await withHttpLanes(LANES * 2, HOST, identity, (lanes) =>
    runCampaign({
      name: 'HTTP/2 frames',
      cases: 700,
      atOnce: LANES * 2,
      fixed: fixedFrames.filter(({ ending }) => ending === 'close'),
      arbitrary: framesCase,
      bytesOf,
      corpus: 'http',
      run: async (httpCase, lane) =>
        outcomeName(await probed(laneOf(lanes, lane), 'https', httpCase)),
      mustSee: ['2xx', 'PROTOCOL_ERROR', 'CONNECTION_CLOSED'],
    }),
  );
});

it('any HTTP/2 frames without TLS give a valid result', { timeout: TIMEOUT_MS }, async () => {
  const url = new URL('https://localhost/');
  const request = { method: 'GET', url, headers: [], body: null };
  const maxBytes = 100_000;
  await withHttpLanes(FRAMES_AT_ONCE, HOST, null, (lanes) =>
    runCampaign({
      name: 'HTTP/2 frames, without TLS around them',
      cases: 3000,
      atOnce: FRAMES_AT_ONCE,
      fixed: fixedFrames,
      arbitrary: framesCase,
      bytesOf,
      corpus: 'http',
      async run(httpCase, index) {
        const lane = laneOf(lanes, index);
        lane.serve(httpCase);
        const context = makeContext({ deadlineInMs: SHORT_DEADLINE_MS });
        const opened = await openSocket(HOST, lane.port, {
          ...context,
          deadlineMs: context.deadlineMs + DEADLINE_MS,
        });
        if (!opened.ok) throw new Error(`no connection: ${JSON.stringify(opened)}`);
        // The outcome of a handshake.
        const socket = Object.assign(opened.socket, { alpnProtocol: 'h2' });
        const { head, body, ending } = await runExchange(socket, request, context, () => ({
          kind: 'read',
          maxBytes,
          keepBytes: maxBytes,
        }));
        await new Promise((resolve) => setImmediate(resolve));
        expect(socket.destroyed).toBe(true);
        if (ending !== null) {
          expect([...FAILURES, ...TIME_OUTS]).toContain(ending.code);
        }
        expect(ending !== null || head !== null).toBe(true);
        if (head !== null) expect(head.status).toBeGreaterThanOrEqual(200);
        if (body !== null) expect(body.totalBytes).toBeLessThanOrEqual(maxBytes);
        return ending?.code ?? (body?.decodeError === null ? 'whole' : 'undecoded');
      },
      mustSee: [
        'whole',
        'PROTOCOL_ERROR',
        'CONNECTION_CLOSED',
        'BODY_TRUNCATED',
        'CONNECTION_RESET',
      ],
    }),
  );
});

it('any encoded HTTP body is decoded or refused within its bounds', {
  timeout: TIMEOUT_MS,
}, async () => {
  const cut = fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 6 });
  await runCampaign({
    name: 'HTTP bodies, decoded',
    cases: 12_000,
    atOnce: LANES,
    fixed: bombBodies.map((body) => ({ body, lengths: [1, 1, 1], maxBytes: MAX_BODY_BYTES })),
    arbitrary: fc.record({
      body: anyBody,
      lengths: cut,
      maxBytes: fc.constantFrom(MAX_BODY_BYTES, MAX_BODY_BYTES, 0, 1, 1000, 16_384),
    }),
    bytesOf: ({ body }) => [Buffer.from(`Content-Encoding: ${body.coding}`), body.bytes],
    corpus: 'http',
    async run({ body: { coding, bytes, plain }, lengths, maxBytes }) {
      const keepBytes = Math.min(maxBytes, 60_000);
      const reader = new BodyReader({ contentEncoding: coding, maxBytes, keepBytes });
      for (const piece of segmentsOf(bytes, lengths)) {
        if ((await reader.write(piece)) === 'enough') break;
      }
      const read = await reader.end();
      expect(read.totalBytes).toBeLessThanOrEqual(maxBytes);
      expect(read.bytes.length).toBe(Math.min(read.totalBytes, keepBytes));
      if (plain !== null && !read.truncated) {
        expect(read.decodeError).toBeNull();
        expect(read.bytes.equals(plain)).toBe(true);
      }
      if (read.decodeError !== null) return 'undecoded';
      return read.truncated ? 'truncated' : 'whole';
    },
    mustSee: ['whole', 'truncated', 'undecoded'],
  });
});

/** Responses of any form, and how they are cut; those of the corpus first, octet by octet. */
const cutResponses = {
  cases: 12_000,
  atOnce: LANES,
  fixed: corpusResponses.map(({ bytes }) => ({ bytes, segments: new Array<number>(90).fill(1) })),
  arbitrary: fc.record({ bytes: anyResponse, segments: segmentLengths }),
  bytesOf,
  corpus: 'http',
} as const;

it('an HTTP response begins the same however its bytes are split', {
  timeout: TIMEOUT_MS,
}, async () => {
  const read = (segments: readonly Buffer[]) => {
    const start = new ResponseStart(() => {}, 65_536, NOT_SCRUBBED);
    const passed = segments
      .map((segment) => start.take(segment)?.toString('latin1') ?? '')
      .join('');
    const { passing, version, overflowed } = start;
    return { passed, passing, version, overflowed, isForeign: start.foreign !== null };
  };
  await runCampaign({
    name: 'HTTP responses begin the same however they are cut',
    ...cutResponses,
    run({ bytes, segments }) {
      const whole = read([bytes]);
      expect(read(segmentsOf(bytes, segments))).toEqual(whole);
      readConnectResponse(bytes);
      if (whole.overflowed) return 'overflowed';
      if (whole.isForeign) return 'foreign';
      return whole.passing ? 'passing' : 'waiting';
    },
    mustSee: ['passing', 'foreign', 'waiting', 'overflowed'],
  });
});

it('an HTTP response is parsed the same however its bytes are split', {
  timeout: TIMEOUT_MS,
}, async () => {
  const read = (segments: readonly Buffer[]) => {
    const parsed = { heads: [] as unknown[], body: '', ended: 0 };
    const parser = new ResponseParser('GET', 65_536, {
      head: (head) => parsed.heads.push(head),
      data: (piece) => {
        parsed.body += piece.toString('latin1');
      },
      end: () => {
        parsed.ended += 1;
      },
    });
    let error: object | null = null;
    for (const segment of segments) error ??= parser.execute(segment);
    const finished = error === null && parsed.ended === 0 ? parser.finish() : null;
    parser.free();
    // The cut may decide which of two faults comes first, but not whether there is one.
    return { ...parsed, isBroken: error !== null, isFinished: finished === true };
  };
  await runCampaign({
    name: 'HTTP responses are parsed the same however they are cut',
    ...cutResponses,
    run({ bytes, segments }) {
      const whole = read([bytes]);
      expect(read(segmentsOf(bytes, segments))).toEqual(whole);
      expect(whole.heads.length).toBeLessThanOrEqual(1);
      expect(whole.ended).toBeLessThanOrEqual(whole.heads.length);
      if (whole.isBroken) return 'broken';
      return whole.ended > 0 ? 'whole' : 'waiting';
    },
    mustSee: ['whole', 'broken', 'waiting'],
  });
});

it('any HTTP redirect and text gives a valid result', { timeout: TIMEOUT_MS }, async () => {
  const location = fc.oneof(
    fc.webUrl(),
    fc.string({ unit: 'binary', maxLength: 40 }),
    randomBytes(40).map((bytes) => bytes.toString('latin1')),
    fc
      .tuple(
        fc.constantFrom('http://', 'https://', '//', '/', '\\\\', 'http:', 'ws://'),
        randomBytes(20),
      )
      .map(([start, rest]) => `${start}${rest.toString('latin1')}`),
  );
  const request = {
    method: 'POST',
    url: new URL('http://localhost/start'),
    headers: [['Authorization', 'secret'] as const, ['X-Own', '1'] as const],
    body: Buffer.from('x'),
  };
  await runCampaign({
    name: 'HTTP redirects and texts of any form',
    cases: 10_000,
    atOnce: LANES,
    fixed: [],
    arbitrary: fc.record({
      location,
      status: fc.constantFrom(200, 300, 301, 302, 303, 307, 308),
      type: contentTypes,
      bytes: randomBytes(200),
    }),
    bytesOf: (input) => [Buffer.from(input.location, 'latin1'), input.bytes],
    corpus: 'http',
    run({ location: place, status, type, bytes }) {
      const body = { bytes, totalBytes: bytes.length, truncated: false };
      const stored = storedBodyOf(body, type, NOT_SCRUBBED);
      if (stored.bodyEncoding === 'text') expect(decodeText(bytes, type)).toBe(stored.body);
      else expect(stored.body).toBe(bytes.toString('base64'));

      const head = {
        status,
        statusText: '',
        httpVersion: '1.1',
        headers: { location: place },
      } as const;
      const redirect = redirectOf(request, head, 0, NOT_SCRUBBED);
      if (redirect.kind === 'refused') expect(redirect.why.length).toBeLessThan(400);
      if (redirect.kind === 'follow') {
        const { url, headers } = redirect.request;
        expect(['http:', 'https:']).toContain(url.protocol);
        expect(url.username + url.password + url.hash).toBe('');
        const isSame = url.origin === request.url.origin;
        expect(headers.some(([name]) => name === 'Authorization')).toBe(isSame);
      }
      return redirect.kind;
    },
    mustSee: ['stays', 'follow', 'refused'],
  });
});

it('any TCP bytes give a valid result', { timeout: TIMEOUT_MS }, async () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 60 }).map((chars) => Buffer.from(chars)),
    randomBytes(100),
    fc.constantFrom(...corpusResponses).map(({ bytes }) => bytes),
  );
  const arbitrary = fc
    .record({
      bytes: text,
      segments: segmentLengths,
      start: fc.constantFrom('asked' as const, 'at once' as const),
      ending: fc.constantFrom('close' as const, 'close' as const, 'reset' as const),
    })
    .map((fields): HttpCase => ({ ...BASE, ...fields }));
  await withHttpLanes(LANES * 2, HOST, null, (lanes) =>
    runCampaign({
      name: 'TCP bytes',
      cases: 2000,
      atOnce: LANES * 2,
      fixed: corpusResponses.map(({ bytes }): HttpCase => ({ ...BASE, bytes })),
      arbitrary,
      bytesOf,
      corpus: 'http',
      async run(httpCase, index) {
        const lane = laneOf(lanes, index);
        lane.serve(httpCase);
        const context = makeContext({ deadlineInMs: DEADLINE_MS });
        const assertions = [{ source: 'RESPONSE_DATA', comparison: 'CONTAINS', target: 'x' }];
        const outcome = await probeTcp(
          tcpRequestSchema.parse({ hostname: HOST, port: lane.port, data: 'go', assertions }),
          context,
          () => Promise.resolve(false),
        );
        const { failure, request, response, timings, timingPhases } = outcome;
        const common = expectOutcome(
          failure,
          (extras) => ({
            tcpCheckResult: {
              request,
              response,
              timings,
              timingPhases,
              requestError: failure?.message ?? null,
              requestErrorCode: failure?.code ?? null,
              assertions: [],
              jobLog: extras.jobLog,
              jobAssets: [],
              pcapDataUrl: null,
              traceroute: null,
            },
          }),
          context,
          httpCase.start === 'at once'
            ? ['CONNECTION_RESET', 'CONNECT_RESET']
            : ['CONNECTION_RESET'],
        );
        tcpDetail.parse(common.tcpCheckResult);
        if (failure === null && httpCase.ending === 'close') {
          expect(response?.data).toBe(httpCase.bytes.subarray(0, 65_536).toString('utf8'));
        }
        return failure?.code ?? 'read';
      },
      mustSee: ['read', 'CONNECTION_RESET'],
    }),
  );
});

/** Each octet costs its reader a chunk; a decoder that gets each one separately takes seconds. */
function chunksOfOneOctet(body: Buffer): Buffer {
  const head = 'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n';
  const wire = Buffer.from('1\r\n_\r\n'.repeat(body.length), 'latin1');
  for (const [index, octet] of body.entries()) wire.writeUInt8(octet, index * 6 + 3);
  return Buffer.concat([Buffer.from(head, 'latin1'), wire, Buffer.from('0\r\n\r\n', 'latin1')]);
}

function randomFill(bytes: number): Buffer {
  return randomFillSync(Buffer.alloc(bytes));
}

function laneOf(lanes: readonly HttpLane[], index: number): HttpLane {
  const lane = lanes[index];
  if (lane === undefined) throw new Error(`there is no lane ${index}`);
  return lane;
}
