import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { SpoolKind } from '../../../../src/agent/spool/spool.ts';
import { MAX_BATCH_BYTES, MAX_RESULTS, PATHS } from '../../../../src/wire/v1/limits.ts';
import { missedRecordOf } from '../../../../src/wire/v1/results.ts';
import { recordFor } from '../../../support/agent/spool.ts';
import { recordOf, uploadFixture } from '../../../support/agent/upload-fixture.ts';
import {
  errorBody,
  failing,
  json,
  read,
  reset,
  type Script,
  type Seen,
} from '../../../support/agent/upload-service.ts';
import { eventually } from '../../../support/eventually.ts';
import { httpDetail, wireResult } from '../../../support/samples/wire-results.ts';

const never = new AbortController().signal;

interface Sent {
  readonly agentId: string;
  readonly epoch: number;
  readonly results: readonly { readonly id: string }[];
  readonly missed: readonly { readonly id: string }[];
}

function sentIn({ body }: Seen): Sent {
  return JSON.parse(gunzipSync(body).toString());
}

function idsIn(seen: Seen): string[] {
  const { results, missed } = sentIn(seen);
  return [...results, ...missed].map(({ id }) => id);
}

/** Answers each request by its content. */
function judging(judge: (sent: Sent) => { status: number; value: unknown } | null): Script {
  return async (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    await read(request);
    const sent: Sent = JSON.parse(gunzipSync(Buffer.concat(chunks)).toString());
    const verdict = judge(sent);
    const accepted = [...sent.results, ...sent.missed].map(({ id }) => id);
    if (verdict === null) json(response, 200, { accepted, rejected: [] });
    else json(response, verdict.status, verdict.value);
  };
}

const names = (count: number): string[] => Array.from({ length: count }, (_, n) => `s${n}`);

describe('uploads to a service that answers', () => {
  it('sends all waiting records in order, and then new ones (trust model SC11)', async () => {
    const { put, run, spool, service, empty, state, records } = await uploadFixture();
    const first = await put(...names(50));
    void run();
    await empty();
    const missed = missedRecordOf(
      { checkId: 'c', slot: 1, lastSlot: 1, count: 1, reason: 'agent_busy' },
      'here',
    );
    const body = Buffer.from(JSON.stringify(missed));
    spool.put({ kind: 'missed', id: missed.id, atMs: 1, body });
    const attempt = wireResult('later', { resultType: 'ATTEMPT' });
    spool.put(recordOf(attempt));
    await empty();
    expect(service.taken).toEqual([...first, attempt.id, missed.id]);
    expect(state.uploaded).toBe(52);
    const [seen] = service.seen;
    expect(seen === undefined ? null : sentIn(seen)).toMatchObject({
      agentId: 'agent-1',
      epoch: 3,
    });
    expect(records()).toEqual([]);
  });

  it('sends a result with its original times, however late', async () => {
    const { spool, run, service, empty } = await uploadFixture();
    const result = wireResult('old', { startedAt: '2020-01-01T00:00:00.000Z' });
    spool.put(recordOf(result));
    void run();
    await empty();
    const [seen] = service.seen;
    expect(seen === undefined ? null : sentIn(seen).results).toEqual([result]);
  });

  it('keeps each request within the bounds of the protocol', async () => {
    const { spool, run, service, empty } = await uploadFixture();
    const pad = { apiCheckResult: httpDetail({ body: 'x'.repeat(60_000) }) };
    const large = names(150).map((name) => wireResult(`large-${name}`, pad));
    const small = names(5_500).map((name) => wireResult(name));
    for (const result of [...large, ...small]) spool.put(recordOf(result));
    await spool.committed();
    void run();
    await empty();
    expect(service.taken).toEqual([...large, ...small].map(({ id }) => id));
    for (const { body } of service.seen) {
      const text = gunzipSync(body);
      expect(text.length).toBeLessThanOrEqual(MAX_BATCH_BYTES);
      expect(JSON.parse(text.toString()).results.length).toBeLessThanOrEqual(MAX_RESULTS);
    }
    expect(service.seen.length).toBeLessThan(16);
  });

  it('prepares the next batch while the service handles one, and sends it afterwards', async () => {
    const { spool, run, service, empty, state } = await uploadFixture();
    const pad = { apiCheckResult: httpDetail({ body: 'x'.repeat(60_000) }) };
    const results = names(80).map((name) => wireResult(`large-${name}`, pad));
    for (const result of results) spool.put(recordOf(result));
    await spool.committed();
    // The service stores half of the first batch, while the agent acquires a new lease.
    service.next(
      PATHS.results,
      judging(({ results: sent }) => {
        state.epoch += 1;
        const accepted = sent.slice(0, sent.length / 2).map(({ id }) => id);
        return { status: 200, value: { accepted, rejected: [] } };
      }),
    );
    void run();
    await empty();
    const sent = service.seen.map(sentIn);
    const first = sent[0]?.results ?? [];
    expect(first.length).toBeGreaterThan(10);
    expect(sent.map(({ epoch }) => epoch)).toEqual([3, ...sent.slice(1).map(() => 4)]);
    const ids = results.map(({ id }) => id);
    const taken = first.slice(0, first.length / 2).map(({ id }) => id);
    expect([
      ...taken,
      ...sent.slice(1).flatMap((each) => each.results.map(({ id }) => id)),
    ]).toEqual(ids);
  });

  it('delays a few results to send them with others', async () => {
    const { put, run, service, clock, empty, waitMs } = await uploadFixture({ lingerMs: 500 });
    const [first] = await put('one');
    void run();
    expect(await waitMs()).toBe(500);
    const [second] = await put('two');
    await clock.advance(499);
    expect(service.seen).toEqual([]);
    await clock.advance(1);
    await empty();
    expect(service.seen.map(idsIn)).toEqual([[first, second]]);
  });

  it('sends many results without a delay', async () => {
    const { spool, run, service } = await uploadFixture({ lingerMs: 500 });
    const pad = { apiCheckResult: httpDetail({ body: 'x'.repeat(60_000) }) };
    for (const name of names(30)) spool.put(recordOf(wireResult(name, pad)));
    await spool.committed();
    void run();
    await eventually(() => service.taken.length === 30);
  });
});

describe('uploads to a service that is away', () => {
  it('retries with growing delays, and sends all records in order when the service is back', async () => {
    const { put, run, service, clock, empty, waitMs, records } = await uploadFixture();
    service.always(PATHS.results, reset);
    const before = await put('one', 'two');
    void run();
    const waits: number[] = [];
    for (let failure = 0; failure < 9; failure += 1) {
      const delayMs = await waitMs();
      waits.push(delayMs);
      await clock.advance(delayMs);
    }
    expect(waits).toEqual([900, 1800, 3600, 7200, 14_400, 28_800, 54_000, 54_000, 54_000]);
    await waitMs();
    const meanwhile = await put('three');
    service.restore();
    await clock.advance(54_000);
    await empty();
    expect(service.taken).toEqual([...before, ...meanwhile]);
    const lines = records().map(({ level, msg }) => [level, msg]);
    expect(lines).toEqual([
      ['warn', expect.stringMatching(/^results wait: the service at http.* cannot be reached/)],
      ['info', 'results reach the service again'],
    ]);
  });

  it('retries at a random time, so agents do not reconnect together', async () => {
    const { put, run, service, waitMs } = await uploadFixture({ random: 0 });
    service.always(PATHS.results, reset);
    await put('one');
    void run();
    expect(await waitMs()).toBe(500);
  });

  it('logs a service that stays away again after ten minutes', async () => {
    const { put, run, service, clock, waitMs, records } = await uploadFixture();
    service.always(PATHS.results, reset);
    await put('one');
    void run();
    for (let failure = 0; failure < 25; failure += 1) await clock.advance(await waitMs());
    expect(records().length).toBe(2);
  });

  it('sends all records after a restart of the agent, without the accepted ones', async () => {
    const fixture = await uploadFixture();
    fixture.service.always(PATHS.results, reset);
    const before = await fixture.put(...names(20));
    void fixture.run();
    await fixture.waitMs();
    await fixture.stop();
    fixture.service.restore();
    const next = await fixture.start();
    const after = await next.put('after');
    void next.run();
    await next.empty();
    expect(fixture.service.taken).toEqual([...before, ...after]);
    await next.stop();
    const last = await fixture.start();
    expect(last.spool.depth.records).toBe(0);
  });

  it('sends a batch again whose answer was lost', async () => {
    const { put, run, service, clock, empty, waitMs } = await uploadFixture();
    service.next(PATHS.results, async (request, response) => {
      await read(request);
      response.writeHead(200, { 'content-length': '500' });
      response.write('{"accepted":[', () => request.socket.resetAndDestroy());
    });
    const ids = await put('one', 'two');
    void run();
    await clock.advance(await waitMs());
    await empty();
    expect(service.seen.map(idsIn)).toEqual([ids, ids]);
  });
});

describe('the reactions to failures', () => {
  it.each([429, 503])('waits for Retry-After plus jitter after a %i', async (status) => {
    const { put, run, service, clock, empty, waitMs } = await uploadFixture();
    service.next(PATHS.results, failing(status, 'later', { 'retry-after': '7' }));
    await put('one');
    void run();
    expect(await waitMs()).toBe(7400);
    await clock.advance(7399);
    expect(service.seen).toHaveLength(1);
    await clock.advance(1);
    await empty();
    expect(service.seen).toHaveLength(2);
  });

  it('logs a refused key as an error, and uploads at once with a new key', async () => {
    const { put, run, service, clock, empty, state, records } = await uploadFixture();
    service.always(PATHS.results, async (request, response) => {
      await read(request);
      if (request.headers.authorization === 'Bearer pl_two') {
        json(response, 200, { accepted: ids, rejected: [] });
      } else json(response, 401, errorBody(401, 'Bad Token'));
    });
    const ids = await put('one');
    void run();
    await eventually(() => clock.nextTimerInMs === 1000);
    await clock.advance(30_000);
    expect(service.seen).toHaveLength(1);
    state.key = 'pl_two';
    await clock.advance(1000);
    await empty();
    expect(records().map(({ level, fault }) => [level, fault])).toEqual([
      ['error', 'unauthorized'],
      ['info', undefined],
    ]);
  });

  it('retries with a refused key once a minute', async () => {
    const { put, run, service, clock, empty } = await uploadFixture();
    service.next(PATHS.results, failing(401));
    await put('one');
    void run();
    await eventually(() => clock.nextTimerInMs === 1000);
    await clock.advance(59_999);
    expect(service.seen).toHaveLength(1);
    await clock.advance(1);
    await empty();
  });

  it('logs another protocol version as an error, and retries every five minutes', async () => {
    const { put, run, service, clock, empty, waitMs, records } = await uploadFixture();
    service.next(PATHS.results, failing(426, 'upgrade the agent'));
    await put('one');
    void run();
    expect(await waitMs()).toBe(300_000);
    expect(records()).toMatchObject([{ level: 'error', fault: 'mismatch' }]);
    await clock.advance(300_000);
    await empty();
  });

  it.each<[string, Script]>([
    [
      'cannot be read',
      async (request, response) => {
        await read(request);
        json(response, 200, []);
      },
    ],
    [
      'names none of the records',
      judging(() => ({ status: 200, value: { accepted: ['x'], rejected: [] } })),
    ],
    [
      'is a page of a proxy',
      async (request, response) => {
        await read(request);
        response.writeHead(404).end('<h1>');
      },
    ],
    ['is a failure', failing(500)],
  ])('loses no record if an answer %s', async (_what, script) => {
    const { put, run, service, clock, empty, waitMs, rejected } = await uploadFixture();
    service.next(PATHS.results, script);
    const ids = await put('one', 'two');
    void run();
    expect(await waitMs()).toBe(900);
    await clock.advance(900);
    await empty();
    expect(service.taken).toEqual(ids);
    expect(rejected).toEqual([]);
  });

  it('sends records again at once that an answer leaves out', async () => {
    const { put, run, service, empty, state } = await uploadFixture();
    service.next(
      PATHS.results,
      judging(({ results }) => ({
        status: 200,
        value: {
          accepted: results.filter((_, n) => n % 2 === 0).map(({ id }) => id),
          rejected: [],
        },
      })),
    );
    const ids = await put(...names(6));
    void run();
    await empty();
    expect(service.taken).toEqual(ids.filter((_, n) => n % 2 === 1));
    expect(state.uploaded).toBe(6);
  });

  it('ends at once when its signal aborts, also while the service is silent', async () => {
    const { put, run, service, stop, clock } = await uploadFixture();
    service.always(PATHS.results, () => {});
    await put('one');
    const ended = run();
    await eventually(() => service.seen.length === 1);
    await stop();
    await ended;
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends when its client or its spool is closed, without a busy loop', async () => {
    const one = await uploadFixture();
    await one.put('one');
    await one.client.close();
    await one.run();
    const other = await uploadFixture();
    const ended = other.run();
    await other.spool.close();
    await ended;
  });
});

describe('records that the service refuses for good', () => {
  it('are dropped, counted and logged once a minute; the others stay (trust model SC11)', async () => {
    const { spool, put, run, service, clock, empty, rejected, records, state } =
      await uploadFixture();
    const kinds: readonly SpoolKind[] = ['result', 'attempt', 'missed'];
    for (const kind of kinds) spool.put(recordFor(`bad-${kind}`, { kind }));
    const ids = await put('good');
    void run();
    await empty();
    expect(service.taken).toEqual(ids);
    expect(state.uploaded).toBe(1);
    expect(rejected).toEqual([
      ['result', 1],
      ['attempt', 1],
      ['missed', 1],
    ]);
    expect(records()).toMatchObject([
      { level: 'warn', code: 'invalid', count: 1, id: 'bad-result' },
    ]);
    await clock.advance(60_000);
    spool.put(recordFor('bad-again'));
    await empty();
    expect(records()).toMatchObject([{ count: 1 }, { code: 'invalid', count: 3, id: 'bad-again' }]);
  });

  it('are found by halving a batch that is refused as a whole', async () => {
    const { put, run, service, empty, rejected, records } = await uploadFixture();
    const ids = await put(...names(40));
    service.always(
      PATHS.results,
      judging(({ results }) =>
        results.some(({ id }) => id === ids[17])
          ? { status: 400, value: errorBody(400, 'no text') }
          : null,
      ),
    );
    void run();
    await empty();
    const taken = service.seen.flatMap(idsIn);
    expect(new Set(taken)).toEqual(new Set(ids));
    expect(rejected).toEqual([['result', 1]]);
    expect(records()).toMatchObject([{ code: 'refused', id: ids[17] }]);
  });

  it('are not dropped if the service refuses an empty batch, too', async () => {
    const { put, run, service, clock, empty, waitMs, rejected } = await uploadFixture();
    service.always(PATHS.results, failing(400, 'agentId: unknown'));
    const ids = await put(...names(3));
    void run();
    for (let failure = 0; failure < 5; failure += 1) await clock.advance(await waitMs());
    await waitMs();
    service.restore();
    await clock.advance(60_000);
    await empty();
    expect(service.taken).toEqual(ids);
    expect(rejected).toEqual([]);
  });

  it('go through a proxy that takes small requests only', async () => {
    const { spool, run, service, empty, rejected } = await uploadFixture();
    const body = (): string =>
      Array.from({ length: 9000 }, () => Math.random().toString(36)[2]).join('');
    const results = names(100).map((name) =>
      wireResult(name, { apiCheckResult: httpDetail({ body: body() }) }),
    );
    for (const result of results) spool.put(recordOf(result));
    await spool.committed();
    let refusals = 0;
    service.always(PATHS.results, async (request, response) => {
      await read(request);
      if (Number(request.headers['content-length'] ?? 0) > 100_000) {
        refusals += 1;
        response.writeHead(413, { 'content-type': 'text/html' }).end('<h1>413</h1>');
      } else json(response, 200, { accepted: results.map(({ id }) => id), rejected: [] });
    });
    void run();
    await empty();
    expect(rejected).toEqual([]);
    expect(refusals).toBeGreaterThan(0);
    expect(refusals).toBeLessThan(8);
  });
});

it('skips a result that makes the service fail, and sends it again later', async () => {
  const { put, run, service, clock, empty, waitMs, rejected, spool } = await uploadFixture();
  const ids = await put(...names(30));
  service.always(
    PATHS.results,
    judging(({ results }) =>
      results.some(({ id }) => id === ids[10])
        ? { status: 500, value: errorBody(500, 'oops') }
        : null,
    ),
  );
  void run();
  while (spool.depth.records > 1) {
    await eventually(() => spool.depth.records === 1 || (clock.nextTimerInMs ?? 1e9) < 60_000);
    if (spool.depth.records > 1) await clock.advance(await waitMs());
  }
  service.restore();
  await clock.advance(600_000);
  const [late] = await put('late');
  await empty();
  expect(service.seen.flatMap(idsIn).slice(-2)).toEqual([ids[10], late]);
  expect(rejected).toEqual([]);
});

describe('the drain of uploads', () => {
  it('sends all waiting records and ends', async () => {
    const { put, uploader, service, spool } = await uploadFixture({ lingerMs: 500 });
    const ids = await put(...names(10));
    await uploader.flush(never);
    expect(service.taken).toEqual(ids);
    expect(spool.depth.records).toBe(0);
    await uploader.flush(never);
  });

  it('retries while the service is away, until its signal aborts', async () => {
    const { put, uploader, service, clock, spool, waitMs } = await uploadFixture();
    service.always(PATHS.results, reset);
    await put('one');
    const limit = new AbortController();
    const flushed = uploader.flush(limit.signal);
    await clock.advance(await waitMs());
    await waitMs();
    limit.abort();
    await flushed;
    expect(service.seen.length).toBeGreaterThanOrEqual(2);
    expect(spool.depth.records).toBe(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it('does not wait for an absent service where the records are on disk for the next process', async () => {
    const fixture = await uploadFixture({ outlivesProcess: true });
    const { put, uploader, service, spool, clock, waitMs } = fixture;
    service.always(PATHS.results, reset);
    await put('one');
    const flushed = uploader.flush(never);
    await clock.advance(await waitMs());
    await flushed;
    expect(service.seen).toHaveLength(2);
    expect(spool.depth.records).toBe(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it('goes on after a single connection that ended', async () => {
    const fixture = await uploadFixture({ outlivesProcess: true });
    const { put, uploader, service, clock, waitMs } = fixture;
    service.next(PATHS.results, reset);
    const ids = await put('one');
    const flushed = uploader.flush(never);
    await clock.advance(await waitMs());
    await flushed;
    expect(service.taken).toEqual(ids);
  });

  it.each([401, 426])('ends at a %i, which only people can resolve', async (status) => {
    const { put, uploader, service, spool } = await uploadFixture();
    service.always(PATHS.results, failing(status));
    await put('one');
    await uploader.flush(never);
    expect(spool.depth.records).toBe(1);
  });
});

describe("records that are ahead of the service's clock", () => {
  const deferring = (id: string, aheadMs: number): Script =>
    judging(({ results }) => {
      const index = results.findIndex((result) => result.id === id);
      const accepted = results.filter((result) => result.id !== id).map((result) => result.id);
      const deferred = index === -1 ? [] : [{ id, list: 'results', index, aheadMs }];
      return { status: 200, value: { accepted, rejected: [], deferred } };
    });

  it('stay in the spool, delay no later ones, and are sent when their time comes', async () => {
    const { put, run, spool, service, clock, empty, records, rejected } = await uploadFixture();
    const [fast = ''] = await put('fast', 'now');
    service.next(PATHS.results, deferring(fast, 90_000));
    void run();
    await eventually(() => spool.depth.records === 1);
    const [later = ''] = await put('later');
    await eventually(() => spool.depth.records === 1 && service.taken.includes(later));
    expect(spool.has('result', fast)).toBe(true);
    expect(service.taken).not.toContain(fast);
    await eventually(() => clock.nextTimerInMs !== null);
    clock.advance(60_000);
    await empty();
    expect(service.taken).toContain(fast);
    expect(rejected).toEqual([]);
    const told = records().filter(({ msg }) => String(msg).includes('ahead of the service'));
    expect(told).toMatchObject([{ records: 1, aheadMs: 90_000 }]);
  });

  it('are sent repeatedly until they are accepted, without other records', async () => {
    const { put, run, service, clock, empty } = await uploadFixture();
    const [fast = ''] = await put('fast');
    for (const aheadMs of [150_000, 90_000]) service.next(PATHS.results, deferring(fast, aheadMs));
    void run();
    for (const requests of [1, 2]) {
      await eventually(() => service.seen.length === requests && clock.nextTimerInMs === 60_000);
      clock.advance(60_000);
    }
    await empty();
    expect(service.seen).toHaveLength(3);
    expect(service.taken).toEqual([fast]);
  });

  it('are tried by their first batch only, however many wait', async () => {
    const { spool, run, service, clock, empty, put } = await uploadFixture();
    const pad = { apiCheckResult: httpDetail({ body: 'x'.repeat(400_000) }) };
    const results = names(7).map((name) => wireResult(`large-${name}`, pad));
    for (const result of results) spool.put(recordOf(result));
    await spool.committed();
    const all = judging(({ results: sent }) => {
      const deferred = sent.map(({ id }, index) => {
        return { id, list: 'results', index, aheadMs: 3_600_000 };
      });
      return { status: 200, value: { accepted: [], rejected: [], deferred } };
    });
    service.always(PATHS.results, all);
    void run();
    const sentUp = () => service.seen.flatMap(idsIn).length;
    await eventually(() => sentUp() === results.length && clock.nextTimerInMs === 60_000);
    const atFirst = service.seen.length;
    expect(atFirst).toBeGreaterThan(2);
    clock.advance(60_000);
    await eventually(() => service.seen.length === atFirst + 1 && clock.nextTimerInMs === 60_000);
    await put('new');
    await eventually(() => service.seen.length === atFirst + 2 && clock.nextTimerInMs === 60_000);
    expect(service.seen.slice(-1).flatMap(idsIn)).toHaveLength(1);
    service.restore();
    clock.advance(60_000);
    await empty();
  });

  it('do not delay the end of the drain: the next process sends them', async () => {
    const { put, service, uploader, spool } = await uploadFixture({ outlivesProcess: true });
    const [fast = ''] = await put('fast');
    service.next(PATHS.results, deferring(fast, 90_000));
    await uploader.flush(never);
    expect(spool.has('result', fast)).toBe(true);
  });
});
