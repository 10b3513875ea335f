import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type BodyMemory,
  SharedBodyMemory,
} from '../../../../src/agent/probes/http/body/body-memory.ts';
import type { ArtifactTaker } from '../../../../src/agent/run/artifacts/failed-body.ts';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { runFixture } from '../../../support/agent/run-fixture.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { checkOf } from '../../../support/samples/checks.ts';
import { agentSecretsOf } from '../../../support/samples/secrets.ts';

type Artifact = Parameters<ArtifactTaker['add']>[0];

interface Answer {
  readonly status?: number;
  readonly type?: string;
  readonly body: string | Buffer;
}

async function answering({ status = 500, type = 'text/plain', body }: Answer) {
  const server = createServer((_request, response) => {
    response.writeHead(status, { 'content-type': type }).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

/** An outbox that stores artifacts, or refuses them with a note. */
function outbox(note: string | null = null) {
  const added: Artifact[] = [];
  const artifacts: ArtifactTaker = {
    add: async (artifact) => {
      added.push({ ...artifact, bytes: Buffer.from(artifact.bytes) });
      return note === null
        ? { ok: true, asset: `/v1/artifacts/${added.length}` }
        : { ok: false, note };
    },
  };
  return { added, artifacts };
}

/** Resolves when a body first has to wait for memory. */
class WatchedRoom extends SharedBodyMemory {
  readonly #onRefused: () => void;

  constructor(bytes: number, onRefused: () => void) {
    super(bytes);
    this.#onRefused = onRefused;
  }

  /** Reserves all of the memory. */
  fill(): void {
    super.open(true).take(this.freeBytes, 'assertions');
  }

  override open(keepsDetail: boolean): BodyMemory {
    const room = super.open(keepsDetail);
    return {
      take: (bytes, use) => {
        const isTaken = room.take(bytes, use);
        if (!isTaken) setImmediate(this.#onRefused);
        return isTaken;
      },
      close: () => room.close(),
    };
  }
}

const LONG_TEXT = 'This is long. '.repeat(10_000);
const ONCE = { retryStrategy: null };

it('saves the whole of a long text body if the check failed', async () => {
  const { added, artifacts } = outbox();
  const fixture = runFixture({ clock: new FakeClock(), parts: { artifacts } });
  const { freeBytes } = fixture.parts.bodyRoom;
  const type = 'Text/HTML;charset="UTF-8"';
  await fixture.run(
    checkOf('URL', { request: await answering({ type, body: LONG_TEXT }), ...ONCE }),
  );
  const [result] = fixture.results;
  expect(added).toMatchObject([
    {
      resultId: result?.id,
      checkId: 'a-check',
      name: 'response-body',
      contentType: 'text/html; charset=utf-8',
    },
  ]);
  expect(String(added[0]?.bytes)).toBe(LONG_TEXT);
  expect(result?.apiCheckResult).toMatchObject({
    jobAssets: ['/v1/artifacts/1'],
    response: { bodyCut: true, bodyBytes: LONG_TEXT.length },
  });
  expect(fixture.parts.bodyRoom.freeBytes).toBe(freeBytes);
});

it('saves the body of each attempt under the id of its result', async () => {
  const { added, artifacts } = outbox();
  const fixture = runFixture({ clock: new FakeClock(), parts: { artifacts } });
  await fixture.run(checkOf('API', { request: await answering({ body: LONG_TEXT }) }));
  expect(fixture.results.map(({ resultType }) => resultType)).toEqual(['ATTEMPT', 'FINAL']);
  expect(added.map(({ resultId }) => resultId)).toEqual(fixture.results.map(({ id }) => id));
});

it('saves a binary body over 50 KB, also if assertions read it', async () => {
  const { added, artifacts } = outbox();
  const fixture = runFixture({ clock: new FakeClock(), parts: { artifacts } });
  const body = Buffer.alloc(60 * 1024, 0xfe);
  const assertions = [{ source: 'TEXT_BODY', comparison: 'CONTAINS', target: 'no such text' }];
  const served = await answering({ status: 200, type: 'image/png', body });
  await fixture.run(checkOf('API', { request: { ...served, assertions }, ...ONCE }));
  expect(added).toMatchObject([{ contentType: 'image/png' }]);
  expect(body.equals(added[0]?.bytes ?? Buffer.alloc(0))).toBe(true);
});

it.each([
  ['a body that the result holds', { body: 'x'.repeat(10 * 1024) }],
  ['a binary body of 50 KB', { type: 'image/png', body: Buffer.alloc(50 * 1024, 0xfe) }],
  ['a check that passed', { status: 200, body: LONG_TEXT }],
  ['no body', { body: '' }],
])('saves nothing for %s', async (_, answer: Answer) => {
  const { added, artifacts } = outbox();
  const fixture = runFixture({ clock: new FakeClock(), parts: { artifacts } });
  const { freeBytes } = fixture.parts.bodyRoom;
  await fixture.run(checkOf('URL', { request: await answering(answer), ...ONCE }));
  expect(added).toEqual([]);
  expect(fixture.results[0]?.apiCheckResult?.jobAssets).toEqual([]);
  expect(fixture.parts.bodyRoom.freeBytes).toBe(freeBytes);
});

it('logs in the job log why a body could not be saved', async () => {
  const { artifacts } = outbox('response-body has 200 bytes, and 100 are allowed');
  const fixture = runFixture({ clock: new FakeClock(), parts: { artifacts } });
  await fixture.run(checkOf('URL', { request: await answering({ body: LONG_TEXT }), ...ONCE }));
  const detail = fixture.results[0]?.apiCheckResult;
  expect(detail?.jobAssets).toEqual([]);
  expect(detail?.jobLog).toContainEqual({
    time: expect.any(Number),
    level: 'warn',
    msg: 'response-body has 200 bytes, and 100 are allowed',
  });
});

it('reports the attempt even if the outbox throws', async () => {
  const artifacts: ArtifactTaker = { add: () => Promise.reject(new Error('ours')) };
  const fixture = runFixture({ clock: new FakeClock(), parts: { artifacts } });
  await fixture.run(checkOf('URL', { request: await answering({ body: LONG_TEXT }), ...ONCE }));
  expect(fixture.results).toMatchObject([{ resultType: 'FINAL', hasFailures: true }]);
  expect(fixture.logRecords()).toMatchObject([{ level: 'error' }]);
});

it('saves the start of a body that does not fit in memory, and logs that', async () => {
  const { added, artifacts } = outbox();
  const bodyRoom = new SharedBodyMemory(16 * 1024);
  const fixture = runFixture({ clock: new FakeClock(), parts: { artifacts, bodyRoom } });
  await fixture.run(checkOf('URL', { request: await answering({ body: LONG_TEXT }), ...ONCE }));
  const bytes = added[0]?.bytes ?? Buffer.alloc(0);
  expect(bytes.length).toBeGreaterThan(50 * 1024);
  expect(bytes.length).toBeLessThan(LONG_TEXT.length);
  expect(LONG_TEXT.startsWith(String(bytes))).toBe(true);
  const { jobLog, response } = fixture.results[0]?.apiCheckResult ?? {};
  const told = jobLog?.map(({ msg }) => msg).join('\n');
  expect(told).toContain(`the first ${bytes.length} of ${LONG_TEXT.length} bytes`);
  expect(response?.bodyBytes).toBe(LONG_TEXT.length);
  expect(bodyRoom.freeBytes).toBe(16 * 1024);
});

describe('a body that assertions read', () => {
  const assertions = [{ source: 'TEXT_BODY', comparison: 'CONTAINS', target: 'long' }];
  const SIZE = LONG_TEXT.length;
  const check = async () => {
    const request = { ...(await answering({ status: 200, body: LONG_TEXT })), assertions };
    return checkOf('API', { request, ...ONCE });
  };

  it('waits for memory, and no run is missed or fails because of it', async () => {
    const held: (() => void)[] = [];
    let asked = 0;
    const server = createServer((_request, response) => {
      asked += 1;
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.write(LONG_TEXT);
      // All runs have read this much before the first one is complete.
      if (asked > 30) response.end();
      else held.push(() => response.end());
      if (asked === 30) for (const end of held) end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const bodyRoom = new SharedBodyMemory(3 * SIZE);
    let leastBytes = 3 * SIZE;
    const lacked: string[] = [];
    const onBodyWithoutRoom = (use: string): void => {
      lacked.push(use);
      leastBytes = Math.min(leastBytes, bodyRoom.freeBytes);
    };
    const fixture = runFixture({ clock: systemClock, parts: { bodyRoom, onBodyWithoutRoom } });
    const one = checkOf('API', { request: { url, assertions }, ...ONCE });
    const slotMs = systemClock.wallMs();
    await Promise.all(Array.from({ length: 30 }, () => fixture.run(one, undefined, { slotMs })));
    expect(fixture.missed).toEqual([]);
    expect(fixture.results.filter(({ hasFailures }) => !hasFailures)).toHaveLength(30);
    expect(lacked).toContain('assertions');
    expect(leastBytes).toBeGreaterThanOrEqual(0);
    expect(bodyRoom.freeBytes).toBe(3 * SIZE);
  });

  it('is read again when there is memory, and the job log says so', async () => {
    const bodyRoom = new SharedBodyMemory(2 * SIZE);
    const others = bodyRoom.open(true);
    others.take(2 * SIZE, 'assertions');
    const fixture = runFixture({
      clock: new FakeClock(),
      parts: { bodyRoom, onBodyWithoutRoom: () => setImmediate(() => others.close()) },
    });
    await fixture.run(await check());
    expect(fixture.results).toMatchObject([{ hasFailures: false, attempts: 0 }]);
    expect(fixture.results[0]?.apiCheckResult?.jobLog[0]?.msg).toMatch(
      /had no memory for the body/,
    );
    expect(bodyRoom.freeBytes).toBe(2 * SIZE);
  });

  it.each(['time', 'a stop'])('is missed where %s ends the wait, never a failure', async (what) => {
    const bodyRoom = new SharedBodyMemory(2 * SIZE);
    bodyRoom.open(true).take(2 * SIZE, 'assertions');
    const clock = new FakeClock();
    const stop = new AbortController();
    const end = () => (what === 'time' ? clock.advance(86_400_000) : stop.abort());
    const onBodyWithoutRoom = () => void setImmediate(end);
    const fixture = runFixture({ clock, parts: { bodyRoom, onBodyWithoutRoom } });
    await fixture.run(await check(), stop.signal);
    expect(fixture.results).toEqual([]);
    const reason = what === 'time' ? 'agent_busy' : 'agent_stopped';
    expect(fixture.missed).toMatchObject([{ reason, count: 1 }]);
    expect(bodyRoom.freeBytes).toBe(0);
  });

  it.each([
    ['stalls', 'BODY_TIMEOUT'],
    ['is cut off', 'BODY_TRUNCATED'],
  ])('fails the run where it %s, though there is no room for it', async (what, code) => {
    const clock = new FakeClock();
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': 2 * SIZE });
      response.write(LONG_TEXT);
      answered = response;
    }).listen(0, '127.0.0.1');
    let answered: ServerResponse | null = null;
    await once(server, 'listening');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const bodyRoom = new WatchedRoom(2 * SIZE, () => {
      if (what === 'stalls') clock.advance(30_000);
      else answered?.socket?.end();
    });
    bodyRoom.fill();
    const fixture = runFixture({ clock, parts: { bodyRoom } });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const status = { source: 'STATUS_CODE', comparison: 'EQUALS', target: '200' };
    const request = { url, assertions: [...assertions, status] };
    await fixture.run(checkOf('API', { request, ...ONCE }));
    expect(fixture.missed).toEqual([]);
    expect(fixture.results).toMatchObject([{ resultType: 'FINAL', hasFailures: true }]);
    const detail = fixture.results[0]?.apiCheckResult;
    expect(detail?.requestErrorCode).toBe(code);
    expect(detail?.assertions).toMatchObject([{ ...status, error: null }]);
    expect(detail?.jobLog.map(({ msg }) => msg).join('\n')).toContain(
      'Assertions on the body were skipped: the agent had no memory for all of it',
    );
    expect(bodyRoom.freeBytes).toBe(0);
  });

  it('decides a check that should fail, also if the connection cut it off', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(500, { 'content-type': 'text/plain', 'content-length': 2 * SIZE });
      response.write(LONG_TEXT, () => response.socket?.end());
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const bodyRoom = new SharedBodyMemory(4 * SIZE);
    const others = bodyRoom.open(true);
    others.take(4 * SIZE, 'assertions');
    const onBodyWithoutRoom = () => void setImmediate(() => others.close());
    const parts = { bodyRoom, onBodyWithoutRoom };
    const fixture = runFixture({ clock: new FakeClock(), parts });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const request = { url, assertions };
    await fixture.run(checkOf('API', { request, shouldFail: true, ...ONCE }));
    expect(fixture.results).toMatchObject([{ hasFailures: false }]);
    expect(fixture.results[0]?.apiCheckResult?.assertions).toMatchObject([{ error: null }]);
  });

  it('gets memory before a body that is only shown', async () => {
    const { added, artifacts } = outbox();
    const lacked: string[] = [];
    const fixture = runFixture({
      clock: new FakeClock(),
      parts: {
        artifacts,
        bodyRoom: new SharedBodyMemory(2 * SIZE),
        onBodyWithoutRoom: (use) => void lacked.push(use),
      },
    });
    await fixture.run(checkOf('URL', { request: await answering({ body: LONG_TEXT }), ...ONCE }));
    expect(added[0]?.bytes.length).toBeLessThan(SIZE);
    expect(lacked).toEqual(['detail']);
    await fixture.run(await check());
    expect(fixture.results.map(({ hasFailures }) => hasFailures)).toEqual([true, false]);
    expect(lacked).toEqual(['detail']);
  });
});

describe('a long body with secrets that does not fit in memory', () => {
  const SECRET = 'kP7vx-Qm92hZ_tuLw4Rb';

  it.each(['utf-8', 'utf-16le'] as const)(
    'shows no part of a secret at its end: %s',
    async (charset) => {
      const { added, artifacts } = outbox();
      const secrets = await agentSecretsOf({ key: 'TOKEN', value: SECRET, secret: true });
      const bodyRoom = new SharedBodyMemory(16 * 1024);
      const parts = { artifacts, bodyRoom, secrets };
      const fixture = runFixture({ clock: new FakeClock(), parts });
      const encoding = charset === 'utf-8' ? 'utf8' : 'utf16le';
      const body = Buffer.from(`<${SECRET}> `.repeat(10_000), encoding);
      const type = `text/plain; charset=${charset}`;
      await fixture.run(checkOf('URL', { request: await answering({ type, body }), ...ONCE }));
      const text = String(added[0]?.bytes);
      expect(text.replaceAll('<********> ', '')).toMatch(/^<?\*{0,8}>?$/);
      expect(text.length).toBeGreaterThan(1_000);
      const { jobLog } = fixture.results[0]?.apiCheckResult ?? {};
      const told = jobLog?.map(({ msg }) => msg).join('\n') ?? '';
      const [, kept] = /the first (\d+) of \d+ bytes/.exec(told) ?? [];
      expect(Number(kept)).toBeLessThan(50 * 1024);
    },
  );
});

describe('a long body that contains a secret', () => {
  const SECRET = 'pässwörd-of-the-shop';
  const secrets = () => agentSecretsOf({ key: 'TOKEN', value: SECRET, secret: true });
  const shown = ({ bytes, contentType }: Artifact): readonly string[] => [
    contentType,
    String(bytes).replace(LONG_TEXT, '… '),
  ];

  it('is saved without it, also in another encoding, and so is its content type', async () => {
    const { added, artifacts } = outbox();
    const parts = { artifacts, secrets: await secrets() };
    const fixture = runFixture({ clock: new FakeClock(), parts });
    const text = `${LONG_TEXT}${SECRET} and more`;
    const answers: readonly Answer[] = [
      { type: 'text/plain', body: text },
      { type: 'text/xml; charset=utf-16le', body: Buffer.from(text, 'utf16le') },
      { type: 'text/html; charset=iso-8859-1', body: Buffer.from(text, 'latin1') },
    ];
    for (const answer of answers) {
      await fixture.run(checkOf('URL', { request: await answering(answer), ...ONCE }));
    }
    const masked = '… ******** and more';
    expect(added.map(shown)).toEqual([
      ['text/plain', masked],
      ['text/xml; charset=utf-8', masked],
      ['text/html; charset=iso-8859-1', masked],
    ]);
  });

  it('is saved unchanged without secrets, in any encoding', async () => {
    const { added, artifacts } = outbox();
    const parts = { artifacts, secrets: await secrets() };
    const fixture = runFixture({ clock: new FakeClock(), parts });
    const body = Buffer.from(LONG_TEXT, 'utf16le');
    const type = 'text/xml; charset=utf-16le';
    await fixture.run(checkOf('URL', { request: await answering({ type, body }), ...ONCE }));
    expect(added.map(({ contentType }) => contentType)).toEqual(['text/xml; charset=utf-16le']);
    expect(added[0] && body.equals(added[0].bytes)).toBe(true);
  });

  it('shows no secret in its content type, and does not mask a part of one', async () => {
    const { added, artifacts } = outbox();
    const secret = 'word-of-the-shop';
    const parts = {
      artifacts,
      secrets: await agentSecretsOf({ key: 'T', value: secret, secret: true }),
    };
    const fixture = runFixture({ clock: new FakeClock(), parts });
    const body = `${LONG_TEXT}${secret.slice(0, -2)}`;
    const type = `text/${secret}`;
    await fixture.run(checkOf('URL', { request: await answering({ type, body }), ...ONCE }));
    expect(added.map(shown)).toEqual([['application/octet-stream', `… ${secret.slice(0, -2)}`]]);
  });
});
