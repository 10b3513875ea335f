import { afterEach, describe, expect, it } from 'vitest';
import { createReportQueue } from '../../../../../src/service/analytics/report-queue.ts';
import { createCheckSummaries } from '../../../../../src/service/analytics/summaries/summaries.ts';
import { databases } from '../../../../support/database/databases.ts';
import { HOURLY } from '../../../../support/service/heartbeats-fixture.ts';
import {
  DAY_MS,
  minutesAgo,
  NOW,
  resultOfRun,
  useResultsFixture,
} from '../../../../support/service/results-fixture.ts';
import { problemsIn, useRunningService } from '../../../../support/service/service-fixture.ts';

const PATH = '/v1/analytics/summaries';
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MINUTES = 1_440;
const never = new AbortController().signal;
const iso = (ms: number): string => new Date(ms).toISOString();

const ICMP_DETAIL = {
  assertions: [],
  requestError: null,
  requestErrorCode: null,
  jobLog: [],
  jobAssets: [],
  pcapDataUrl: null,
  traceroute: null,
  request: { hostname: 'h', pingCount: 4, ipFamily: 'IPv4' as const },
  timings: { lookup: 0, end: 9 },
  timingPhases: { dns: 0, total: 9 },
};
const ICMP_RESPONSE = {
  hostname: 'h',
  resolvedIp: '192.0.2.1',
  ipFamily: 'IPv4' as const,
  pingCount: 4,
  packetsSent: 4,
  packetsReceived: 3,
  packetLoss: 25,
  dnsResolutionTime: 0,
  latency: { avg: 2, min: 1, max: 3, stdDev: 0.5 },
  pingResults: [],
};

describe.each(databases)('summaries of checks on %s', (kind) => {
  const service = useRunningService(kind);
  const fixture = useResultsFixture(service);

  afterEach(() => {
    const { clock } = service();
    clock.stepWall(NOW - clock.wallMs());
  });

  const list = async (query: string) => {
    const reply = await fixture().mine.get(`${PATH}?${query}`);
    expect([reply.status, reply.text]).toEqual([200, expect.any(String)]);
    return reply.json;
  };
  const ids = async (query: string): Promise<readonly string[]> =>
    (await list(query)).map(({ checkId }: { checkId: string }) => checkId);

  it('say how checks of each type did, and follow from roll-ups alone', async () => {
    const { berlin, check, clock, deliver, features, mine, oslo, store } = fixture();
    await check('idle', { tags: ['quiet'], muted: true });
    await check('ping', { checkType: 'ICMP', request: { hostname: 'h' } });
    const heartbeat = { name: 'Backup', heartbeat: HOURLY };
    expect((await mine.post('/v1/checks/heartbeats', heartbeat)).status).toBe(201);
    await deliver(berlin, {
      results: [
        resultOfRun({ slot: minutesAgo(5), responseTime: 120, isDegraded: true }),
        resultOfRun({ slot: minutesAgo(25), responseTime: 80, hasFailures: true }),
        resultOfRun({ slot: minutesAgo(2 * DAY_MINUTES + 7), responseTime: 160 }),
        ...[ICMP_RESPONSE, null].map((response, at) =>
          resultOfRun({
            checkId: 'ping',
            checkType: 'ICMP',
            slot: minutesAgo(at + 1),
            apiCheckResult: null,
            icmpCheckResult: { ...ICMP_DETAIL, response },
          }),
        ),
      ],
    });
    await deliver(oslo, {
      results: [resultOfRun({ slot: minutesAgo(10), responseTime: 40, runLocation: 'oslo' })],
    });
    const query = 'quickRange=last7Days';
    const before = await list(query);
    const shared = {
      activated: true,
      muted: false,
      tags: [],
      groupId: null,
      from: iso(NOW - 7 * DAY_MS),
      to: iso(NOW),
      packetLoss: null,
    };
    expect(before).toEqual([
      {
        ...shared,
        checkId: 'idle',
        name: 'Check idle',
        checkType: 'URL',
        muted: true,
        tags: ['quiet'],
        availability: null,
        runs: 0,
        failures: 0,
        degraded: 0,
        responseTime: null,
        phases: { wait: null, dns: null, tcp: null, firstByte: null, download: null },
      },
      {
        ...shared,
        checkId: 'ping',
        name: 'Check ping',
        checkType: 'ICMP',
        availability: 100,
        runs: 2,
        failures: 0,
        degraded: 0,
        responseTime: { avg: 2, min: 1, max: 3 },
        packetLoss: 25,
        phases: {},
      },
      {
        ...shared,
        checkId: 'shop',
        name: 'Check shop',
        checkType: 'URL',
        availability: 75,
        runs: 4,
        failures: 1,
        degraded: 1,
        responseTime: { avg: 100, min: 40, max: 160 },
        phases: { wait: 0, dns: 1.5, tcp: 2, firstByte: 8, download: 0.25 },
      },
    ]);
    clock.stepWall(DAY_MS + HOUR_MS);
    await features.rollUps.rollUp(never);
    clock.stepWall(-DAY_MS - HOUR_MS);
    await store.query('delete from result_metrics');
    expect(await list(query)).toEqual(before);
  });

  it('are of the checks that the filters of statuses name, in the account alone', async () => {
    const { berlin, check, deliver, mine, theirs } = fixture();
    await check('ping', { checkType: 'ICMP', request: { hostname: 'h' }, tags: ['net'] });
    await deliver(berlin, {
      results: [resultOfRun({ slot: minutesAgo(1), hasFailures: true })],
    });
    expect(await ids('')).toEqual(['ping', 'shop']);
    expect(await ids('type=ICMP')).toEqual(['ping']);
    expect(await ids('tag=net&search=PING')).toEqual(['ping']);
    expect(await ids('state=failing')).toEqual(['shop']);
    expect(await ids('location=oslo&without=tag')).toEqual(['shop']);
    expect(await ids('search=%00')).toEqual([]);
    expect((await theirs.get(PATH)).json).toEqual([]);
    const refused = await mine.get(`${PATH}?type=HEARTBEAT`);
    expect([refused.status, problemsIn(refused)]).toEqual([
      400,
      [expect.stringMatching(/^query\.type/)],
    ]);
  });

  it('go on by a cursor, in the window of the first part', async () => {
    const { check, clock, mine } = fixture();
    for (const id of ['idle', 'other']) await check(id);
    // Transactions of other tests on the same server delay what cursors show.
    while ((await mine.get('/v1/checks?cursor=start')).json.length < 3);
    clock.stepWall(20 * MINUTE_MS);
    const window = { from: iso(NOW - DAY_MS), to: iso(NOW + 20 * MINUTE_MS) };
    const seen: string[] = [];
    for (let cursor = 'start'; seen.length < 3; clock.stepWall(90 * MINUTE_MS)) {
      const reply = await mine.get(`${PATH}?quickRange=last24Hours&limit=1&cursor=${cursor}`);
      expect([reply.status, reply.headers['x-total-count']]).toEqual([200, '3']);
      const [{ checkId, from, to }] = reply.json;
      expect({ from, to }).toEqual(window);
      seen.push(checkId);
      cursor = String(reply.headers['x-next-cursor']);
    }
    expect(seen).toHaveLength(3);
    expect(new Set(seen)).toEqual(new Set(['idle', 'other', 'shop']));
  });

  it('keep the end of a window that was read within the last hour', async () => {
    const { clock, mine } = fixture();
    clock.stepWall(50 * MINUTE_MS);
    const [{ from, to }] = await list('quickRange=last24Hours');
    clock.stepWall(20 * MINUTE_MS);
    const next = await mine.get(`${PATH}?from=${Date.parse(from)}&to=${Date.parse(to)}`);
    expect(next.json).toEqual([expect.objectContaining({ from, to: iso(NOW + 50 * MINUTE_MS) })]);
  });

  it('have windows of whole hours', async () => {
    const { berlin, deliver, mine } = fixture();
    await deliver(berlin, {
      results: [175, 100, 55].map((ago) => resultOfRun({ slot: minutesAgo(ago) })),
    });
    const window = `from=${minutesAgo(110)}&to=${minutesAgo(70)}`;
    expect(await list(window)).toEqual([
      expect.objectContaining({ runs: 1, from: iso(minutesAgo(120)), to: iso(minutesAgo(60)) }),
    ]);
    const reversed = await mine.get(`${PATH}?from=${minutesAgo(70)}&to=${minutesAgo(110)}`);
    expect(problemsIn(reversed)).toEqual([
      expect.stringMatching(/^query\.to must not be before the start of the window/),
    ]);
  });

  if (kind === 'pglite') {
    /** Reads the summaries of URL checks without the API. */
    const read = (fromMs: number | null, maxRunsEmbedded?: number) => {
      const { clock, mine, store } = fixture();
      const summaries = createCheckSummaries({
        store,
        clock,
        outdatedStates: { refresh: () => Promise.resolve() },
        queue: createReportQueue({ store, clock }),
        ...(maxRunsEmbedded === undefined ? {} : { maxRunsEmbedded }),
      });
      return summaries.list(mine.accountId, {
        filter: {
          tags: [],
          types: ['URL'],
          states: [],
          search: null,
          activated: null,
          groupId: null,
          location: null,
          silent: null,
          without: [],
        },
        quickRange: 'last24Hours',
        fromMs,
        toMs: null,
        begunMs: null,
        limit: 10,
        page: 1,
      });
    };

    it('let other statements in between the checks of a long window', async () => {
      const { berlin, check, deliver, store } = fixture();
      for (const id of ['idle', 'other']) await check(id);
      await deliver(berlin, { results: [resultOfRun({ slot: minutesAgo(1) })] });
      const ended = new AbortController();
      const found = read(0).finally(() => ended.abort());
      let served = 0;
      for (; !ended.signal.aborted; served += 1) await store.query('select 1');
      expect(await found).toMatchObject([{ runs: 0 }, { runs: 0 }, { runs: 1 }]);
      expect(served).toBeGreaterThanOrEqual(4);
    });

    it('refuse more runs without roll-ups than the limit of the embedded database', async () => {
      const { berlin, deliver } = fixture();
      await deliver(berlin, {
        results: [1, 2].map((ago) => resultOfRun({ slot: minutesAgo(ago) })),
      });
      await expect(read(null, 1)).rejects.toMatchObject({
        status: 400,
        message: expect.stringContaining('more than 1 runs that are not rolled up yet'),
      });
    });
  }
});
