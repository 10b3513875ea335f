import { describe, expect, it, onTestFinished } from 'vitest';
import { resultIdOf } from '../../../../src/model/ids.ts';
import type { CheckResult } from '../../../../src/model/result/result.ts';
import { databases } from '../../../support/database/databases.ts';
import { HTTP_DETAIL } from '../../../support/samples/http-results.ts';
import {
  codesIn,
  minutesAgo,
  NOW,
  resultOfRun,
  useResultsFixture,
} from '../../../support/service/results-fixture.ts';
import { useRunningService } from '../../../support/service/service-fixture.ts';

const MINUTE_MS = 60_000;
const PERIOD_MS = 10 * MINUTE_MS;
const CAPABILITIES = { types: [], ipv6: false, icmp: false, capture: false };

/**
 * What the holder of berlin's key can make the service believe about a check that only oslo runs,
 * and about slots that berlin does not have.
 */
describe.each(databases)('on %s', (kind) => {
  describe('what a location can make the service believe', () => {
    const fixture = useResultsFixture(useRunningService(kind));

    const statusOf = async (id: string) =>
      (await fixture().mine.get(`/v1/check-statuses/${id}`)).json;
    const resultsOf = async (id: string): Promise<readonly CheckResult[]> =>
      (await fixture().mine.get(`/v1/check-results/${id}?resultType=ALL`)).json;
    const alerts = async (): Promise<readonly unknown[]> =>
      // The usual window ends just before the clock that stands still here.
      (await fixture().mine.get(`/v1/check-alerts?from=0&to=${NOW / 1000 + 1}`)).json;
    const theirs = () => fixture().check('theirs', { privateLocations: ['oslo'] });

    /** Gives a location one rule of slots of `theirs`, as its assigner would. */
    const assign = async (
      slug: 'berlin' | 'oslo',
      rule: { readonly phaseMs?: number; readonly stride?: number; readonly index?: number } = {},
    ): Promise<void> => {
      const { phaseMs = 0, stride = 1, index = 0 } = rule;
      await fixture().running.store.query(
        `insert into assignments (location_id, check_id, account_id, unassigned_reason, period_ms,
           phase_ms, stride, stride_index, check_revision, revision)
         values ($1, 'theirs', $2, 'no_agent', $3::int, $4::int, $5::int, $6::int, 1, 1)
         on conflict (location_id, check_id) do update set phase_ms = excluded.phase_ms,
           stride = excluded.stride, stride_index = excluded.stride_index`,
        [fixture()[slug].id, fixture().mine.accountId, PERIOD_MS, phaseMs, stride, index],
      );
    };
    /** The clock of these tests is behind the database's, so the rows are dated back. */
    const since = (slug: 'berlin' | 'oslo', sinceMs: number) =>
      fixture().running.store.query(
        'update assigned_slots set since = $2::timestamptz where location_id = $1 and check_id = $3',
        [fixture()[slug].id, new Date(sinceMs), 'theirs'],
      );
    const take = (slug: 'berlin' | 'oslo') =>
      fixture().running.store.query(
        `delete from assignments where location_id = $1 and check_id = 'theirs'`,
        [fixture()[slug].id],
      );
    const endedAt = (slug: 'berlin' | 'oslo', untilMs: number) =>
      fixture().running.store.query(
        `update assigned_slots set until = $2::timestamptz
         where location_id = $1 and check_id = 'theirs' and until is not null`,
        [fixture()[slug].id, new Date(untilMs)],
      );
    const codesFor = async (...results: readonly CheckResult[]): Promise<readonly string[]> =>
      codesIn(await fixture().send(fixture().berlin, { results }));
    const slotAgo = (periods: number): number =>
      Math.floor(NOW / PERIOD_MS) * PERIOD_MS - periods * PERIOD_MS;
    const own = (slot: number): CheckResult => resultOfRun({ slot, checkId: 'theirs' });

    it('is any result of its own slots, for the status and alerts of a check that others run, too (trust model AC1)', async () => {
      await fixture().mine.put('/v1/checks/url/shop', { name: 'Check shop', frequency: 1 });
      const { berlin, oslo, deliver } = fixture();
      const fromOslo = { runLocation: 'oslo' };
      await deliver(oslo, { results: [resultOfRun({ slot: minutesAgo(5), ...fromOslo })] });
      await deliver(berlin, {
        results: [resultOfRun({ slot: minutesAgo(4), hasFailures: true, responseTime: 1.5 })],
      });
      expect(await statusOf('shop')).toMatchObject({
        hasFailures: true,
        lastRunLocation: 'berlin',
      });
      expect(await alerts()).toMatchObject([{ alertType: 'ALERT_FAILURE' }]);
      const failed = { slot: minutesAgo(3), hasFailures: true, ...fromOslo };
      await deliver(oslo, { results: [resultOfRun(failed)] });
      await deliver(berlin, { results: [resultOfRun({ slot: minutesAgo(2) })] });
      expect(await statusOf('shop')).toMatchObject({ hasFailures: false });
      expect(await alerts()).toMatchObject([
        { alertType: 'ALERT_RECOVERY' },
        { alertType: 'ALERT_FAILURE' },
      ]);
    });

    it('is nothing of a check that was created again after it had an earlier check of the same id (trust model AN1)', async () => {
      await fixture().check('theirs', { privateLocations: ['berlin'] });
      await assign('berlin');
      await since('berlin', minutesAgo(1000));
      const asked = await fixture().mine.post('/v1/checks/theirs/run');
      expect(asked.status).toBe(201);
      const { sequenceId, slot } = asked.json;
      expect((await fixture().mine.delete('/v1/checks/url/theirs')).status).toBe(204);
      await theirs();
      const failed = { checkId: 'theirs', hasFailures: true };
      const codes = await codesFor(resultOfRun({ ...failed, slot: slotAgo(1) }), {
        ...resultOfRun({ ...failed, slot: Date.parse(slot) }),
        sequenceId,
        id: resultIdOf(sequenceId, 1),
      });
      expect(codes).toEqual(['foreign_location', 'foreign_location']);
      expect(await resultsOf('theirs')).toEqual([]);
    });

    it('are the texts of its results, but not the name and type of their check elsewhere (trust model AC6, AN10)', async () => {
      await fixture().mine.put('/v1/checks/url/shop', { name: 'Check shop', frequency: 1 });
      const elsewhere = 'https://elsewhere.example/capture';
      const forged = resultOfRun({
        slot: minutesAgo(1),
        name: 'Another check',
        checkType: 'API',
        hasFailures: true,
        apiCheckResult: { ...HTTP_DETAIL, jobAssets: [elsewhere], pcapDataUrl: elsewhere },
      });
      await fixture().deliver(fixture().berlin, { results: [forged] });
      expect(await resultsOf('shop')).toMatchObject([
        {
          name: 'Another check',
          checkType: 'API',
          apiCheckResult: { jobAssets: [elsewhere], pcapDataUrl: elsewhere },
        },
      ]);
      expect(await statusOf('shop')).toMatchObject({ name: 'Check shop', hasFailures: true });
      expect(await alerts()).toMatchObject([{ name: 'Check shop', checkType: 'URL' }]);
    });

    it('is no failure of a check that it never had, whenever the run claims to have begun (trust model AN1)', async () => {
      await theirs();
      const forged = resultOfRun({ slot: minutesAgo(2), checkId: 'theirs', hasFailures: true });
      const longAgo = new Date(0).toISOString();
      expect(await codesFor({ ...forged, startedAt: longAgo })).toEqual(['foreign_location']);
      expect(await codesFor(forged)).toEqual(['foreign_location']);
      expect(await statusOf('theirs')).toBeNull();
      expect(await resultsOf('theirs')).toEqual([]);
      expect(await alerts()).toEqual([]);
    });

    it('is no result under the run of another location, whose own result is stored (trust model AN2)', async () => {
      await theirs();
      const real = { slot: minutesAgo(2), checkId: 'theirs', runLocation: 'oslo' };
      const fail = resultOfRun({ ...real, hasFailures: true });
      const pass: CheckResult = { ...fail, hasFailures: false, runLocation: 'berlin' };
      const shop = resultOfRun({ slot: minutesAgo(2), runLocation: 'oslo' });
      const reply = await fixture().send(fixture().berlin, {
        results: [pass, { ...shop, runLocation: 'berlin' }],
      });
      expect(reply.json.rejected).toEqual([
        expect.objectContaining({ id: pass.id, code: 'foreign_location' }),
        expect.objectContaining({ id: shop.id, code: 'foreign_location' }),
      ]);
      await fixture().deliver(fixture().oslo, { results: [fail] });
      expect(await statusOf('theirs')).toMatchObject({ hasFailures: true });
    });

    it('is no result under an id of its own making (trust model AN3)', async () => {
      const made = { ...resultOfRun({ slot: minutesAgo(2) }), sequenceId: 'mine' };
      const wrong = [
        { ...made, id: resultIdOf('mine', 1) },
        { ...resultOfRun({ slot: minutesAgo(2) }), id: 'other' },
        // The ids are those of another slot.
        { ...resultOfRun({ slot: minutesAgo(2) }), checkRunId: minutesAgo(3) },
      ];
      const reply = await fixture().send(fixture().berlin, { results: wrong });
      expect(codesIn(reply)).toEqual(['foreign_location', 'invalid', 'foreign_location']);
      // Answers by the ids that the agent knows.
      const ids = reply.json.rejected.map((one: { readonly id: string }) => one.id);
      expect(new Set(ids)).toEqual(new Set(wrong.map(({ id }) => id)));
    });

    it('is no result of a slot that its assignment does not have (trust model AN4)', async () => {
      await theirs();
      await assign('berlin');
      await since('berlin', 0);
      expect(await codesFor(own(slotAgo(1)), own(slotAgo(1) + MINUTE_MS))).toEqual([
        'foreign_location',
      ]);
      expect(await resultsOf('theirs')).toHaveLength(1);
    });

    it('is no result of a slot of another location in the rotation (trust model AN4)', async () => {
      await theirs();
      const periods = slotAgo(1) / PERIOD_MS;
      await assign('berlin', { stride: 2, index: periods % 2 });
      await since('berlin', 0);
      expect(await codesFor(own(slotAgo(1)), own(slotAgo(2)))).toEqual(['foreign_location']);
    });

    it('are results by the previous rule, which an offline agent still uses', async () => {
      await theirs();
      await assign('berlin');
      await assign('berlin', { phaseMs: MINUTE_MS });
      await since('berlin', 0);
      const both = [own(slotAgo(1)), own(slotAgo(1) + MINUTE_MS)];
      expect(await codesFor(...both, own(slotAgo(1) + 2 * MINUTE_MS))).toEqual([
        'foreign_location',
      ]);
    });

    it('are results of the time in which it had the check, however late they arrive (trust model AC3)', async () => {
      await theirs();
      await assign('berlin');
      await take('berlin');
      await since('berlin', slotAgo(40));
      await endedAt('berlin', slotAgo(20));
      expect(
        await codesFor(own(slotAgo(30)), own(slotAgo(39)), own(slotAgo(18)), own(slotAgo(42))),
      ).toEqual(['foreign_location', 'foreign_location']);
      const query = `?resultType=ALL&from=0&to=${NOW / 1000}`;
      const stored = (await fixture().mine.get(`/v1/check-results/theirs${query}`)).json;
      expect(stored.map(({ id }: CheckResult) => id)).toEqual([
        own(slotAgo(30)).id,
        own(slotAgo(39)).id,
      ]);
    });

    it('are no missed slots but its own (trust model AC5, AN9)', async () => {
      await theirs();
      const day = { checkId: 'theirs', slot: slotAgo(20), lastSlot: slotAgo(1), count: 20 };
      const reply = await fixture().send(fixture().berlin, { missed: [day] });
      expect(codesIn(reply)).toEqual(['foreign_location']);
      await assign('berlin');
      await take('berlin');
      await since('berlin', slotAgo(15));
      await endedAt('berlin', slotAgo(10));
      await fixture().deliver(fixture().berlin, { missed: [day] });
      const shown = await fixture().mine.get(`/v1/missed-slots/theirs?from=0&to=${NOW / 1000}`);
      // With a quarter of an hour at either end.
      expect(shown.json).toEqual([
        expect.objectContaining({
          location: 'berlin',
          slot: new Date(slotAgo(16)).toISOString(),
          lastSlot: new Date(slotAgo(9)).toISOString(),
          count: 8,
        }),
      ]);
    });

    it('is no future result: it is deferred, and stored when its time has come (trust model AN6)', async () => {
      const { berlin, send, clock, running, mine } = fixture();
      const caller = { accountId: mine.accountId, locationId: berlin.id };
      await running.store.query(
        `insert into agents (account_id, location_id, id, version, instance_id, capabilities, concurrency)
         values ($1, $2, 'agent', '1', 'i', $3::jsonb, 1)`,
        [caller.accountId, caller.locationId, JSON.stringify(CAPABILITIES)],
      );
      const near = resultOfRun({ slot: NOW + 50_000 });
      const far = resultOfRun({ slot: NOW + 20 * 3_600_000 });
      const missed = { checkId: 'shop', slot: NOW, lastSlot: NOW + PERIOD_MS, count: 2 };
      const reply = await send(berlin, { results: [far, near], missed: [missed] });
      expect(reply.json).toEqual({
        accepted: [near.id],
        rejected: [],
        deferred: [
          { id: far.id, list: 'results', index: 0, aheadMs: 20 * 3_600_000 + 20 },
          { id: 'm0', list: 'missed', index: 0, aheadMs: PERIOD_MS },
        ],
      });
      const agents = await mine.get(`/v1/private-locations/${berlin.id}/agents`);
      expect(agents.json).toMatchObject([{ id: 'agent', clockAheadMs: 20 * 3_600_000 + 20 }]);
      // Those of other tests, too.
      const { text } = await running.app.ask('/metrics', { key: null });
      const counted = /^vedette_service_records_deferred_total (\d+)$/m.exec(text)?.[1];
      expect(Number(counted)).toBeGreaterThanOrEqual(2);
      await fixture().deliver(fixture().oslo, {
        results: [resultOfRun({ slot: NOW + 55_000, runLocation: 'oslo', hasFailures: true })],
      });
      expect(await statusOf('shop')).toMatchObject({ hasFailures: true });
      clock.stepWall(20 * 3_600_000);
      onTestFinished(() => clock.stepWall(-20 * 3_600_000));
      await fixture().deliver(berlin, { results: [far], missed: [missed] });
      expect(await statusOf('shop')).toMatchObject({ hasFailures: false });
    });

    it('is no result whose times are ahead, though its slot is not (trust model AN6)', async () => {
      const times = { created_at: new Date(NOW + 61_000).toISOString() };
      const reply = await fixture().send(fixture().berlin, {
        results: [{ ...resultOfRun({ slot: minutesAgo(1) }), ...times }],
      });
      expect(reply.json).toMatchObject({ accepted: [], rejected: [], deferred: [{ index: 0 }] });
    });

    it('is only history when it arrives late: it changes neither the status nor an alert (trust model AC3, AN7)', async () => {
      await fixture().mine.put('/v1/checks/url/shop', { name: 'Check shop', frequency: 1 });
      await fixture().deliver(fixture().berlin, {
        results: [resultOfRun({ slot: minutesAgo(40), responseTime: 5 })],
      });
      expect(await statusOf('shop')).toBeNull();
      await fixture().deliver(fixture().berlin, {
        results: [resultOfRun({ slot: minutesAgo(14), responseTime: 7 })],
      });
      const before = await statusOf('shop');
      expect(before).toMatchObject({ hasFailures: false, longestRun: 7 });
      const late = [60, 50, 30, 20, 16].map((minutes) =>
        resultOfRun({ slot: minutesAgo(minutes), hasFailures: true, responseTime: 70 }),
      );
      await fixture().deliver(fixture().berlin, { results: late });
      expect(await statusOf('shop')).toMatchObject({
        hasFailures: false,
        lastCheckRunId: before.lastCheckRunId,
        longestRun: 7,
      });
      expect(await alerts()).toEqual([]);
      expect(await resultsOf('shop')).toHaveLength(7);
    });

    it('is late after two periods of its check, where those are longer than 15 minutes (trust model AN7)', async () => {
      await fixture().mine.put('/v1/checks/url/shop', { name: 'Check shop', frequency: 30 });
      const failed = (minutes: number) =>
        resultOfRun({ slot: minutesAgo(minutes), hasFailures: true });
      await fixture().deliver(fixture().berlin, { results: [failed(61)] });
      expect(await statusOf('shop')).toBeNull();
      expect(await alerts()).toEqual([]);
      await fixture().deliver(fixture().berlin, { results: [failed(59)] });
      expect(await statusOf('shop')).toMatchObject({ hasFailures: true });
      expect(await alerts()).toHaveLength(1);
    });

    it('is a current result if the clock of its agent is known to be behind (trust model AC4)', async () => {
      const { berlin, running, mine, deliver } = fixture();
      await running.store.query(
        `insert into agents (account_id, location_id, id, version, instance_id, capabilities,
           concurrency, clock_ahead_ms)
         values ($1, $2, 'agent', '1', 'i', '{}', 1, $3::bigint)`,
        [mine.accountId, berlin.id, -60 * MINUTE_MS],
      );
      await deliver(berlin, {
        results: [resultOfRun({ slot: minutesAgo(60), hasFailures: true })],
      });
      expect(await statusOf('shop')).toMatchObject({ hasFailures: true });
    });
  });
});
