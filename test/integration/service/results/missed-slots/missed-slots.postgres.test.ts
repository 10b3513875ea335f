import { describe, expect, it, onTestFinished } from 'vitest';
import type { Sql } from '../../../../../src/service/database/store.ts';
import { createAgentClocks } from '../../../../../src/service/results/intake/agent-clocks.ts';
import { createResultIntake } from '../../../../../src/service/results/intake/intake.ts';
import { recordMissed } from '../../../../../src/service/results/missed-slots/record-and-remove-missed.ts';
import { createResultPartitions } from '../../../../../src/service/results/partitions.sql.ts';
import { databases, silentLog } from '../../../../support/database/databases.ts';
import { settle } from '../../../../support/fake-clock.ts';
import {
  codesIn,
  DAY_MS,
  type Missed,
  minutesAgo,
  NOW,
  RETENTION_DAYS,
  resultOfRun,
  useResultsFixture,
} from '../../../../support/service/results-fixture.ts';
import { testScrubbing } from '../../../../support/service/service-features.ts';
import { useRunningService } from '../../../../support/service/service-fixture.ts';

const MINUTE_MS = 60_000;

/** Every minute from one to another number of minutes ago, both included. */
function range(from: number, to: number, fields: Partial<Missed> = {}): Missed {
  const [slot, lastSlot] = [minutesAgo(from), minutesAgo(to)];
  return { checkId: 'shop', slot, lastSlot, count: from - to + 1, ...fields };
}

/** Missed slots, and late results that remove them. */
describe.each(databases)('on %s', (kind) => {
  describe('missed slots', () => {
    const service = useRunningService(kind);
    const fixture = useResultsFixture(service);

    /** As `location from-to reason`, in minutes ago, newest first. */
    const shown = async (query = ''): Promise<string[]> => {
      const reply = await fixture().mine.get(`/v1/missed-slots/shop${query}`);
      expect(reply.status).toBe(200);
      return reply.json.map((row: Record<string, string>) => {
        const ago = (iso: string | undefined) => (NOW - Date.parse(iso ?? '')) / MINUTE_MS;
        const [from, to] = [ago(row.slot), ago(row.lastSlot)];
        const steps = (from - to) / Math.max(1, Number(row.count) - 1);
        return `${row.location} ${from}-${to}${steps > 1 ? ` by ${steps}` : ''} ${row.reason}`;
      });
    };

    it('are shown newest first, within the window that is asked for', async () => {
      const { berlin, oslo, deliver } = fixture();
      await deliver(berlin, { missed: [range(20, 11), range(5, 5, { reason: 'clock_jump' })] });
      await deliver(oslo, { missed: [range(30, 30)] });
      expect(await shown()).toEqual([
        'berlin 5-5 clock_jump',
        'berlin 20-11 agent_busy',
        'oslo 30-30 agent_busy',
      ]);
      const seconds = (minutes: number): number => minutesAgo(minutes) / 1000;
      expect(await shown(`?from=${seconds(11)}&to=${seconds(5)}`)).toEqual([
        'berlin 20-11 agent_busy',
      ]);
      expect(await shown(`?from=${seconds(10)}&to=${seconds(5)}`)).toEqual([]);
      expect(await shown('?limit=1&page=3')).toEqual(['oslo 30-30 agent_busy']);
      const { mine, theirs } = fixture();
      expect((await theirs.get('/v1/missed-slots/shop')).status).toBe(404);
      expect((await mine.get('/v1/missed-slots/none')).status).toBe(404);
      expect((await mine.get('/v1/missed-slots/shop?from=yesterday')).status).toBe(400);
    });

    it('are stored without those that were run (trust model AN9)', async () => {
      const { berlin, oslo, deliver, handOver } = fixture();
      const slot = minutesAgo(7);
      await deliver(berlin, {
        results: [
          resultOfRun({ slot: minutesAgo(9) }),
          resultOfRun({ slot: minutesAgo(5), resultType: 'ATTEMPT' }),
          // A one-off run.
          resultOfRun({ slot: minutesAgo(8) + 1 }),
        ],
      });
      // Run in another location for berlin, and in oslo for itself.
      const elsewhere = resultOfRun({ slot, origin: 'berlin', runLocation: 'oslo', attempts: 1 });
      await handOver(oslo, elsewhere);
      await deliver(oslo, {
        results: [elsewhere, resultOfRun({ slot: minutesAgo(6), runLocation: 'oslo' })],
      });
      await deliver(berlin, { missed: [range(10, 4)] });
      expect(await shown()).toEqual([
        'berlin 6-4 agent_busy',
        'berlin 8-8 agent_busy',
        'berlin 10-10 agent_busy',
      ]);
    });

    it('are removed by late results of any location', async () => {
      const { berlin, oslo, deliver, handOver } = fixture();
      await deliver(berlin, { missed: [range(10, 4), range(2, 2)] });
      await deliver(oslo, { missed: [range(10, 4)] });
      await deliver(berlin, {
        results: [
          resultOfRun({ slot: minutesAgo(10) }),
          resultOfRun({ slot: minutesAgo(8) }),
          resultOfRun({ slot: minutesAgo(2) }),
          resultOfRun({ slot: minutesAgo(5), resultType: 'ATTEMPT' }),
          resultOfRun({ slot: minutesAgo(6) + 1 }),
        ],
      });
      const slot = minutesAgo(5);
      const elsewhere = resultOfRun({ slot, origin: 'berlin', runLocation: 'oslo', attempts: 1 });
      await handOver(oslo, elsewhere);
      await deliver(oslo, { results: [elsewhere] });
      expect(await shown()).toEqual([
        'berlin 4-4 agent_busy',
        'berlin 7-6 agent_busy',
        'berlin 9-9 agent_busy',
        'oslo 10-4 agent_busy',
      ]);
    });

    it('are stored once if two agents report them, with the first reason', async () => {
      const { berlin, deliver } = fixture();
      await deliver(berlin, { missed: [range(10, 6), range(7, 4, { reason: 'clock_jump' })] });
      await deliver(berlin, { missed: [range(12, 2, { reason: 'agent_stopped' })] });
      expect(await shown()).toEqual([
        'berlin 3-2 agent_stopped',
        'berlin 5-4 clock_jump',
        'berlin 10-6 agent_busy',
        'berlin 12-11 agent_stopped',
      ]);
    });

    it('exclude those of a maintenance window, also if the agent did not know it', async () => {
      const { berlin, deliver, check, mine } = fixture();
      const window = (from: number, to: number, fields: object) =>
        mine.post('/v1/maintenance-windows', {
          name: 'Works',
          startsAt: new Date(minutesAgo(from)).toISOString(),
          endsAt: new Date(minutesAgo(to)).toISOString(),
          repeatUnit: 'DAY',
          ...fields,
        });
      const { json: group } = await mine.post('/v1/check-groups', { name: 'Web', tags: ['web'] });
      await check('shop', { tags: ['db'], groupId: group.id });
      expect((await window(18, 16, { tags: ['db'] })).status).toBe(201);
      await window(14, 13, { tags: ['web'] });
      await window(12, 11, { tags: ['other'], silenceAllAlerts: true });
      // Every day; the end is not in it.
      await window(24 * 60 + 9, 24 * 60 + 5, { pauseAllChecks: true, repeatInterval: 1 });
      await deliver(berlin, { missed: [range(20, 4, { reason: 'agent_stopped' })] });
      expect(await shown()).toEqual([
        'berlin 5-4 agent_stopped',
        'berlin 13-10 agent_stopped',
        'berlin 16-15 agent_stopped',
        'berlin 20-19 agent_stopped',
      ]);
      // A record whose slots are all in a window is accepted, so it is not sent again.
      await deliver(berlin, { missed: [range(9, 6), range(8, 8)] });
      expect(await shown()).toHaveLength(4);
    });

    it('of another frequency exclude those that are stored or have run', async () => {
      const { berlin, deliver } = fixture();
      await deliver(berlin, { missed: [range(10, 6, { count: 3 })] });
      await deliver(berlin, { missed: [range(10, 6)] });
      expect(await shown()).toEqual([
        'berlin 7-7 agent_busy',
        'berlin 9-9 agent_busy',
        'berlin 10-6 by 2 agent_busy',
      ]);
    });

    it('of days are one row a day', async () => {
      const { berlin, deliver, running, mine } = fixture();
      const minutes = 3 * 24 * 60;
      await deliver(berlin, { missed: [range(minutes, 1, { reason: 'agent_stopped' })] });
      await deliver(berlin, { results: [resultOfRun({ slot: minutesAgo(minutes - 1) })] });
      const rows = await running.store.query<{ slots: number; rows: number }>(
        `select sum(count)::int as slots, count(*)::int as rows from missed_slots
         where account_id = $1`,
        [mine.accountId],
      );
      expect(rows).toEqual([{ slots: minutes - 1, rows: 4 }]);
    });

    it('that need a row each are stored in slices, between which other requests proceed', async () => {
      const { mine } = fixture();
      const { store } = service();
      const { accountId } = mine;
      const minutes = 4 * 24 * 60;
      const record = (missed: Missed) => {
        let turns = 0;
        const rows: number[] = [];
        const ranges = [{ ...missed, reason: 'agent_busy' }];
        const done = store.transaction((tx) => {
          const query: Sql['query'] = (text, params = []) => {
            if (text.includes('insert into missed_slots')) {
              rows.push(JSON.parse(String(params[1])).length);
            }
            return tx.query(text, params);
          };
          return recordMissed({ query }, { accountId, location: 'berlin', ranges }, async () => {
            turns += 1;
          });
        });
        return done.then(() => ({ rows, turns }));
      };
      const everySecond = range(minutes, 2, { count: minutes / 2 });
      expect((await record(everySecond)).rows).toEqual([4]);
      const { rows, turns } = await record(range(minutes, 1));
      expect(rows).toEqual([2_000, minutes / 2 - 2_000]);
      expect(turns).toBeGreaterThan(minutes / 2);
    });

    it('are refused one by one, with the reason', async () => {
      const { berlin, oslo, send, check } = fixture();
      await check('there', { privateLocations: [oslo.slug] });
      const old = NOW - (RETENTION_DAYS + 2) * DAY_MS;
      const wrong: [string, Missed][] = [
        ['invalid', range(10, 6, { count: 8 })],
        ['invalid', range(10, 6, { count: 2 ** 50 })],
        ['invalid', range(10, 6, { count: 0 })],
        ['unknown_check', range(10, 6, { checkId: 'none' })],
        ['foreign_location', range(10, 6, { checkId: 'there' })],
        ['too_old', { checkId: 'shop', slot: 0, lastSlot: old, count: 2 }],
      ];
      const missed = [...wrong.map(([, one]) => one), range(3, 3)];
      const reply = await send(berlin, { missed });
      expect(codesIn(reply)).toEqual(wrong.map(([code]) => code));
      expect(reply.json.accepted).toEqual([`m${wrong.length}`]);
      expect(await shown()).toEqual(['berlin 3-3 agent_busy']);
    });

    it('are deferred if they are ahead of the clock, and stored when their time has come', async () => {
      const { berlin, deliver, send, clock } = fixture();
      const aMinute = { missed: [range(3, 3), range(1, -1)] };
      await deliver(berlin, aMinute);
      expect(await shown()).toEqual(['berlin 1--1 agent_busy', 'berlin 3-3 agent_busy']);
      const longer = range(-2, -4, { checkId: 'shop' });
      const reply = await send(berlin, { missed: [longer, range(5, 5)] });
      expect(reply.json).toEqual({
        accepted: ['m1'],
        rejected: [],
        deferred: [{ id: 'm0', list: 'missed', index: 0, aheadMs: 4 * MINUTE_MS }],
      });
      clock.stepWall(4 * MINUTE_MS);
      await deliver(berlin, { missed: [longer] });
      expect(await shown(`?to=${minutesAgo(-5) / 1000}`)).toContain('berlin -2--4 agent_busy');
      clock.stepWall(-4 * MINUTE_MS);
    });

    it('of a clock that was set forward by years are cut to the retention', async () => {
      const { berlin, deliver, running, mine } = fixture();
      const years = { checkId: 'shop', slot: NOW % DAY_MS, lastSlot: NOW };
      const days = (years.lastSlot - years.slot) / DAY_MS;
      await deliver(berlin, { missed: [{ ...years, count: days + 1 }] });
      const rows = await running.store.query(
        `select sum(count)::int as slots, min(slot) as first from missed_slots
         where account_id = $1`,
        [mine.accountId],
      );
      const first = new Date(NOW - RETENTION_DAYS * DAY_MS);
      expect(rows).toEqual([{ slots: RETENTION_DAYS + 1, first }]);
    });

    it('stay with the agent for another batch if earlier ones took too long', async () => {
      const { berlin, check, mine } = fixture();
      await check('other');
      const { store, clock, features } = service();
      const log = silentLog();
      const partitions = createResultPartitions({
        store,
        clock,
        log,
        retentionDays: RETENTION_DAYS,
      });
      const { checkRuns } = features;
      const scrubbing = testScrubbing(clock);
      const agentClocks = createAgentClocks({ store, clock, log });
      const intake = createResultIntake({
        storage: { watch: (storing) => storing },
        ...{ store, clock, log, partitions, checkRuns, agentClocks, scrubbing },
        missedBudgetMs: 0,
      });
      const caller = { accountId: mine.accountId, locationId: berlin.id, keyId: 'k' };
      const day = range(24 * 60, 1, { reason: 'agent_stopped' });
      const missed = ['shop', 'other', 'none'].map((checkId) => ({ ...day, checkId, id: checkId }));
      const answers: unknown[] = [];
      while (missed.length > 0) {
        const message = { agentId: 'a', epoch: 1, results: [], missed };
        const { accepted, rejected } = await intake.take(caller, message);
        answers.push([accepted, rejected.map(({ id }) => id)]);
        missed.splice(0, accepted.length + rejected.length);
      }
      expect(answers).toEqual([
        [['shop'], []],
        [['other'], []],
        [[], ['none']],
      ]);
      expect(await shown('?from=0&to=9999999999')).toEqual(['berlin 1440-1 agent_stopped']);
    });

    /** Runs the hourly deletion once, while the service's clock is at the instant. */
    const deleteOldAt = async (atMs: number): Promise<void> => {
      const { clock, features } = service();
      const stepMs = atMs - clock.wallMs();
      const stop = new AbortController();
      clock.stepWall(stepMs);
      const keeping = features.missedSlots.maintain(stop.signal);
      while (clock.pendingTimers === 0) await settle();
      clock.stepWall(-stepMs);
      stop.abort();
      await keeping;
      expect(clock.pendingTimers).toBe(0);
    };

    it('are deleted after the retention', async () => {
      const { berlin, deliver } = fixture();
      await deliver(berlin, { missed: [range(2, 1), range(60 * 48, 60 * 48)] });
      await deleteOldAt(NOW + RETENTION_DAYS * DAY_MS + MINUTE_MS);
      const window = `?from=${minutesAgo(60 * 72) / 1000}&to=${NOW / 1000}`;
      expect(await shown(window)).toEqual(['berlin 2-1 agent_busy']);
    });

    describe('and the history of assignments that admits late records', () => {
      /** A rule of berlin with a slot every minute, for `other`, which only oslo has now. */
      const hadRule = async (fields: {
        readonly replacedAtMs?: number;
        readonly untilMs: number | null;
      }): Promise<void> => {
        const { berlin, store } = fixture();
        const { replacedAtMs, untilMs } = fields;
        await store.query(
          `insert into assigned_slots (location_id, check_id, period_ms, phase_ms, stride,
             stride_index, since, replaced_at, until)
           values ($1, 'other', 60000, 0, 1, 0, to_timestamp(0), $2::timestamptz, $3::timestamptz)`,
          [
            berlin.id,
            replacedAtMs === undefined ? null : new Date(replacedAtMs),
            untilMs === null ? null : new Date(untilMs),
          ],
        );
      };
      const endsLeft = async (): Promise<readonly (number | null)[]> => {
        const rows = await fixture().store.query<{ until: Date | null }>(
          `select until from assigned_slots where location_id = $1 and check_id = 'other'
           order by until`,
          [fixture().berlin.id],
        );
        return rows.map(({ until }) => until?.getTime() ?? null);
      };
      /** The oldest slot of which results are stored during the day that begins at NOW. */
      const OLDEST_SLOT = NOW - RETENTION_DAYS * DAY_MS;
      const EDGE_MS = 15 * MINUTE_MS;

      it('are kept until the last result of an ended assignment is too old', async () => {
        const { berlin, check, deliver, send, clock } = fixture();
        await check('other', { privateLocations: ['oslo'] });
        await hadRule({ untilMs: OLDEST_SLOT - EDGE_MS + 1 });
        // The last instant of the day: the oldest slot is never older.
        const atMs = NOW + DAY_MS - 1;
        await deleteOldAt(atMs);
        clock.stepWall(DAY_MS - 1);
        onTestFinished(() => clock.stepWall(1 - DAY_MS));
        const of = { checkId: 'other' };
        const oldest = { ...of, slot: OLDEST_SLOT };
        await deliver(berlin, {
          results: [resultOfRun(oldest)],
          missed: [{ ...oldest, lastSlot: OLDEST_SLOT, count: 1 }],
        });
        const before = OLDEST_SLOT - MINUTE_MS;
        const refused = await send(berlin, {
          results: [
            resultOfRun({ ...of, slot: OLDEST_SLOT + MINUTE_MS }),
            resultOfRun({ ...of, slot: before }),
          ],
          missed: [{ ...of, slot: before, lastSlot: before, count: 1 }],
        });
        expect(codesIn(refused).toSorted()).toEqual(['foreign_location', 'too_old', 'too_old']);
      });

      it('are deleted once an assignment ended two days before the retention, and no earlier', async () => {
        await fixture().check('other', { privateLocations: ['oslo'] });
        const keptMs = NOW - (RETENTION_DAYS + 2) * DAY_MS;
        await hadRule({ untilMs: keptMs - 1 });
        await hadRule({ untilMs: keptMs });
        await deleteOldAt(NOW);
        expect(await endsLeft()).toEqual([keptMs]);
        await deleteOldAt(NOW + 1);
        expect(await endsLeft()).toEqual([]);
      });

      it('have a replaced rule for as long as the location has the check, for agents out of contact', async () => {
        const { berlin, check, deliver, send, store } = fixture();
        await check('other', { privateLocations: ['oslo'] });
        const longAgo = NOW - 10 * RETENTION_DAYS * DAY_MS;
        await hadRule({ replacedAtMs: longAgo, untilMs: null });
        await deleteOldAt(NOW);
        const slot = minutesAgo(1);
        const results = [resultOfRun({ checkId: 'other', slot })];
        const missed = [range(4, 3, { checkId: 'other' })];
        await deliver(berlin, { results, missed });
        await store.query(
          `update assigned_slots set until = $2::timestamptz
           where location_id = $1 and check_id = 'other'`,
          [berlin.id, new Date(longAgo)],
        );
        await deleteOldAt(NOW);
        expect(await endsLeft()).toEqual([]);
        expect(codesIn(await send(berlin, { results, missed }))).toEqual([
          'foreign_location',
          'foreign_location',
        ]);
      });
    });
  });
});
