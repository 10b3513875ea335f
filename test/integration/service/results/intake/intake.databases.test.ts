import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { resultIdOf } from '../../../../../src/model/ids.ts';
import type { CheckResult } from '../../../../../src/model/result/result.ts';
import { lastOwnSlotAt } from '../../../../../src/model/schedule/rotation.ts';
import { createAssigner } from '../../../../../src/service/agents/assignment/assigner.ts';
import { databases, silentLog } from '../../../../support/database/databases.ts';
import { HTTP_DETAIL } from '../../../../support/samples/http-results.ts';
import { shownResult } from '../../../../support/samples/shown-result.ts';
import { PollingAgent } from '../../../../support/service/polling-agent.ts';
import {
  codesIn,
  DAY_MS,
  minutesAgo,
  NOW,
  RETENTION_DAYS,
  type ResultsFixture,
  resultOfRun,
  useResultsFixture,
} from '../../../../support/service/results-fixture.ts';
import { useRunningService } from '../../../../support/service/service-fixture.ts';

/** The intake of results from agents. */
describe.each(databases)('on %s', (kind) => {
  describe('results that agents send', () => {
    const fixture = useResultsFixture(useRunningService(kind));

    const results = async (query = '', checkId = 'shop'): Promise<CheckResult[]> => {
      const reply = await fixture().mine.get(`/v1/check-results/${checkId}?resultType=ALL${query}`);
      expect(reply.status).toBe(200);
      return reply.json;
    };
    const status = async (checkId = 'shop') =>
      (await fixture().mine.get(`/v1/check-statuses/${checkId}`)).json;

    it('are shown as they were sent, with the status of their check', async () => {
      const { berlin, deliver, clock } = fixture();
      const text = (odd: string) => `a ${odd} 😀 \u2028 "quoted" \\ ${odd} é`;
      const result = resultOfRun({
        slot: minutesAgo(1),
        hasFailures: true,
        responseTime: 12.375,
        apiCheckResult: { ...HTTP_DETAIL, requestError: text('\u0000\ud800') },
      });
      expect(await status()).toBeNull();
      await deliver(berlin, { results: [result] });
      expect(await results()).toEqual([
        {
          ...shownResult({
            ...result,
            apiCheckResult: { ...HTTP_DETAIL, requestError: text('\ufffd\ufffd') },
          }),
          errorGroupIds: [expect.any(String)],
        },
      ]);
      expect(await status()).toMatchObject({
        name: 'Check shop',
        checkId: 'shop',
        hasFailures: true,
        hasErrors: false,
        isDegraded: false,
        longestRun: 12.375,
        shortestRun: 12.375,
        lastRunLocation: 'berlin',
        lastCheckRunId: String(minutesAgo(1)),
        sslDaysRemaining: null,
        created_at: new Date(clock.wallMs()).toISOString().slice(0, 10),
        updated_at: null,
      });
    });

    it('are stored once, however often they are sent', async () => {
      const { berlin, deliver } = fixture();
      const attempt = resultOfRun({ slot: minutesAgo(1), resultType: 'ATTEMPT' });
      const final = resultOfRun({ slot: minutesAgo(1), attempts: 1 });
      const batch = { results: [attempt, final, final, attempt] };
      await deliver(berlin, batch);
      await deliver(berlin, batch);
      await deliver(berlin, { results: [{ ...final, hasFailures: true }] });
      expect(await results()).toHaveLength(2);
      expect(await status()).toMatchObject({ hasFailures: false });
    });

    it('of one run have one FINAL, the first received (trust model AC7)', async () => {
      const { berlin, oslo, deliver, handOver } = fixture();
      const slot = minutesAgo(1);
      const handedOver = resultOfRun({ slot, origin: 'berlin', runLocation: 'oslo', attempts: 1 });
      await handOver(oslo, handedOver);
      await deliver(oslo, { results: [handedOver] });
      const own = resultOfRun({ slot, attempts: 2, hasFailures: true });
      await deliver(berlin, { results: [own] });
      expect((await results()).map(({ id }) => id)).toEqual([handedOver.id]);
      expect(await status()).toMatchObject({ hasFailures: false, lastRunLocation: 'oslo' });
    });

    it('become FINAL for an attempt that another agent made as its last', async () => {
      const { berlin, deliver } = fixture();
      const slot = minutesAgo(1);
      const attempt = resultOfRun({ slot, resultType: 'ATTEMPT', hasFailures: true });
      const final = resultOfRun({ slot, hasFailures: false, responseTime: 3 });
      await deliver(berlin, { results: [attempt] });
      expect(await status()).toBeNull();
      // Both in one batch, as they would be raised both at once.
      const second = resultOfRun({ slot, attempts: 1, resultType: 'ATTEMPT' });
      await deliver(berlin, { results: [second] });
      await deliver(berlin, { results: [final, { ...second, resultType: 'FINAL' }] });
      expect(await results('&hasFailures=false')).toContainEqual(shownResult(final));
      expect(await status()).toMatchObject({ hasFailures: false, shortestRun: 3 });
      await deliver(berlin, { results: [attempt] });
      const finals = (await results()).filter(({ resultType }) => resultType === 'FINAL');
      expect(finals).toEqual([shownResult(final)]);
    });

    it('that arrive late change the history, and not the status', async () => {
      const { berlin, deliver } = fixture();
      await deliver(berlin, { results: [resultOfRun({ slot: minutesAgo(1), responseTime: 5 })] });
      const late = resultOfRun({ slot: minutesAgo(2), hasFailures: true, responseTime: 9 });
      await deliver(berlin, { results: [late] });
      expect(await status()).toMatchObject({
        hasFailures: false,
        longestRun: 9,
        lastCheckRunId: String(minutesAgo(1)),
        updated_at: expect.any(String),
      });
    });

    it('are refused one by one, with the reason (trust model AN8)', async () => {
      const { berlin, send, mine } = fixture();
      const slot = minutesAgo(1);
      const good = resultOfRun({ slot });
      await fixture().check('gone');
      await mine.delete('/v1/checks/gone');
      const old = NOW - (RETENTION_DAYS + 1) * DAY_MS;
      const never = randomUUID();
      const wrong: [string, unknown][] = [
        ['invalid', { ...good, responseTime: 'fast' }],
        ['invalid', null],
        ['invalid', { ...good, created_at: '0000-01-01T00:00:00.000Z' }],
        ['unknown_check', resultOfRun({ slot, checkId: 'none' })],
        ['unknown_check', resultOfRun({ slot, checkId: 'gone' })],
        ['foreign_location', resultOfRun({ slot, runLocation: 'oslo' })],
        ['too_old', resultOfRun({ slot: old })],
        // Results of a run of oslo, of a missing run, and of another slot than the run's.
        ['foreign_location', resultOfRun({ slot, origin: 'oslo', attempts: 1 })],
        ['foreign_location', { ...good, sequenceId: never, id: resultIdOf(never, 1) }],
        ['foreign_location', { ...good, checkRunId: minutesAgo(2) }],
      ];
      const reply = await send(berlin, { results: [...wrong.map(([, result]) => result), good] });
      expect(reply.status).toBe(200);
      expect(reply.json.accepted).toEqual([good.id]);
      expect(codesIn(reply)).toEqual(wrong.map(([code]) => code));
      expect(reply.json.rejected).toContainEqual({
        id: good.id,
        list: 'results',
        index: 0,
        code: 'invalid',
        message: expect.stringContaining('responseTime'),
      });
      expect(await results()).toEqual([shownResult(good)]);
    });

    it('of a check of another account are of an unknown check (trust model AN8)', async () => {
      const { running, berlin, send, theirs } = fixture();
      const checks = running.features.checks;
      await checks.put(
        { accountId: theirs.accountId, id: 'theirs' },
        { checkType: 'URL', request: { url: 'http://a.test/' }, locations: ['eu-west-1'] },
        { autoAssignAlerts: true },
      );
      const reply = await send(berlin, {
        results: [resultOfRun({ slot: minutesAgo(1), checkId: 'theirs' })],
        missed: [{ checkId: 'theirs', slot: 60_000, lastSlot: 60_000, count: 1 }],
      });
      expect(reply.json.accepted).toEqual([]);
      expect((await theirs.get('/v1/check-statuses/theirs')).json).toBeNull();
    });

    it('are deferred if any of their times is more than a minute ahead, and stored later', async () => {
      const { berlin, send, deliver, clock } = fixture();
      const isoOf = (ms: number): string => new Date(ms).toISOString();
      const at = isoOf(NOW);
      const times = { startedAt: at, stoppedAt: at, created_at: at };
      const within = resultOfRun({ slot: NOW + 60_000, ...times });
      const ahead = [
        resultOfRun({ slot: NOW + 60_001, ...times }),
        ...[['startedAt', 'stoppedAt'], ['stoppedAt'], ['created_at']].map((fields, number) => ({
          ...resultOfRun({ slot: minutesAgo(number + 1) }),
          ...Object.fromEntries(fields.map((field) => [field, isoOf(NOW + 90_000)])),
        })),
      ];
      const reply = await send(berlin, { results: [...ahead, within] });
      expect(reply.status).toBe(200);
      expect(reply.json).toEqual({
        accepted: [within.id],
        rejected: [],
        deferred: ahead.map(({ id }, index) => {
          return { id, list: 'results', index, aheadMs: index === 0 ? 60_001 : 90_000 };
        }),
      });
      // The deferred result is not stored, so it can still be sent again.
      expect(await results()).toEqual([]);
      expect(await status()).toMatchObject({ lastCheckRunId: String(NOW + 60_000) });
      clock.stepWall(120_000);
      await deliver(berlin, { results: ahead });
      expect(await results()).toHaveLength(5);
      expect(await status()).toMatchObject({ lastCheckRunId: String(NOW + 60_001) });
      clock.stepWall(-120_000);
    });

    it('that arrive later than two periods are listed, but do not change the status', async () => {
      const { berlin, deliver, check, clock } = fixture();
      await check('shop', { frequency: 10 });
      await deliver(berlin, { results: [resultOfRun({ slot: minutesAgo(20) - 1 })] });
      expect(await results()).toHaveLength(1);
      expect(await status()).toBeNull();
      await deliver(berlin, { results: [resultOfRun({ slot: minutesAgo(20), responseTime: 5 })] });
      expect(await status()).toMatchObject({ lastCheckRunId: String(minutesAgo(20)) });
      // Newer than the known results, but from a spool of a day.
      clock.stepWall(DAY_MS);
      onTestFinished(() => clock.stepWall(-DAY_MS));
      const late = resultOfRun({ slot: minutesAgo(10), hasFailures: true, responseTime: 9 });
      await deliver(berlin, { results: [late] });
      expect(await status()).toMatchObject({
        hasFailures: false,
        longestRun: 5,
        lastCheckRunId: String(minutesAgo(20)),
      });
      expect(await results('&from=0&to=9999999999')).toHaveLength(3);
    });

    describe('of runs that their location did not get', () => {
      const codesFor = async (...sent: readonly CheckResult[]): Promise<readonly string[]> => {
        const { berlin, send } = fixture();
        const reply = await send(berlin, { results: sent });
        const codes = codesIn(reply);
        expect(reply.json.accepted.length + codes.length).toBe(sent.length);
        return codes;
      };
      const elsewhere = { privateLocations: ['oslo'] };
      /** As if no agent of berlin had ever had the check. */
      const neverGiven = (checkId: string) =>
        fixture().store.query(
          'delete from assigned_slots where location_id = $1 and check_id = $2',
          [fixture().berlin.id, checkId],
        );

      it('are refused, whenever they claim to have begun', async () => {
        await fixture().check('other', elsewhere);
        const run = { slot: minutesAgo(1), checkId: 'other' };
        const early = { startedAt: new Date(NOW - DAY_MS).toISOString() };
        expect(await codesFor(resultOfRun(run), resultOfRun({ ...run, ...early }))).toEqual([
          'foreign_location',
          'foreign_location',
        ]);
        expect(await results('', 'other')).toEqual([]);
        expect(await status('other')).toBeNull();
      });

      it('are refused even if the check names that location, if another has the slots', async () => {
        await fixture().check('other', { privateLocations: ['berlin'] });
        await neverGiven('other');
        const slot = minutesAgo(1);
        expect(await codesFor(resultOfRun({ slot, checkId: 'other' }))).toEqual([
          'foreign_location',
        ]);
      });

      it('are refused for slots of others in the rotation, and when it did not have the check (trust model AC2, AN4)', async () => {
        const { berlin, store } = fixture();
        await fixture().check('other', elsewhere);
        const index = (minutesAgo(90) / 60_000) % 2;
        await store.query(
          `insert into assigned_slots (location_id, check_id, period_ms, phase_ms, stride,
             stride_index, since, until)
           values ($1, 'other', 60000, 0, 2, $2, $3::timestamptz, $4::timestamptz)`,
          [berlin.id, index, new Date(minutesAgo(120)), new Date(minutesAgo(60))],
        );
        const takes = async (slot: number): Promise<boolean> =>
          (await codesFor(resultOfRun({ slot, checkId: 'other' }))).length === 0;
        expect(await takes(minutesAgo(90))).toBe(true);
        expect(await takes(minutesAgo(91))).toBe(false);
        expect(await takes(minutesAgo(90) + 1)).toBe(false);
        // A quarter of an hour is allowed for clock differences and delayed assignments.
        expect([await takes(minutesAgo(134)), await takes(minutesAgo(136))]).toEqual([true, false]);
        expect([await takes(minutesAgo(46)), await takes(minutesAgo(44))]).toEqual([true, false]);
      });

      it('are stored if its agent was assigned the check, also after the assignment', async () => {
        const { mine, check, store, clock, features, berlin } = fixture();
        const fields = { name: 'g', privateLocations: ['berlin'] };
        const group = (await mine.post('/v1/check-groups', fields)).json.id;
        await check('other', { ...elsewhere, groupId: group, frequency: 1 });
        const assigner = createAssigner({ store, clock, log: silentLog() });
        const caller = { accountId: mine.accountId, locationId: berlin.id, keyId: 'k' };
        const agent = new PollingAgent(features.agents, caller, 'agent');
        await agent.look();
        await assigner.pass();
        await agent.look();
        const slots = agent.checks.get('other')?.slots ?? expect.unreachable('it is not assigned');
        // Dated by the clock of the database, which differs from the service's here.
        await store.query(`update assigned_slots set since = $2 where location_id = $1`, [
          berlin.id,
          new Date(minutesAgo(60)),
        ]);
        const run = (agoMs: number): CheckResult =>
          resultOfRun({ slot: lastOwnSlotAt(slots, NOW - agoMs), checkId: 'other' });
        expect(await codesFor(run(0))).toEqual([]);
        expect((await mine.delete(`/v1/check-groups/${group}`)).status).toBe(204);
        await assigner.pass();
        await agent.look();
        expect(agent.ids).toEqual(['shop']);
        expect(await codesFor(run(300_000))).toEqual([]);
        const beside = resultOfRun({ slot: run(300_000).checkRunId + 1, checkId: 'other' });
        expect(await codesFor(beside)).toEqual(['foreign_location']);
      });

      it('are stored if the run was requested there, and end it (trust model AN5)', async () => {
        const { running, mine, check, oslo, send } = fixture();
        const { checkRuns } = running.features;
        await check('other', { privateLocations: ['berlin'] });
        const run = await checkRuns.request(mine.accountId, 'other', { location: 'berlin' });
        await check('other', elsewhere);
        await neverGiven('other');
        const asked = { slot: run.slot.getTime(), checkId: 'other' };
        // It was not requested in oslo, which has the check.
        const there = resultOfRun({ ...asked, runLocation: 'oslo', origin: 'berlin' });
        expect(codesIn(await send(oslo, { results: [there] }))).toEqual(['foreign_location']);
        const final = resultOfRun(asked);
        expect(final.sequenceId).toBe(run.sequenceId);
        expect(await codesFor(final)).toEqual([]);
        expect(await checkRuns.get({ accountId: mine.accountId, id: run.id })).toMatchObject({
          state: 'done',
        });
        // Another run of the same check was not requested.
        const other = resultOfRun({ slot: NOW + 1, checkId: 'other' });
        expect(await codesFor(other)).toEqual(['foreign_location']);
      });

      it('are stored from the handed over retry on (trust model AC8, AN5)', async () => {
        const { oslo, send, handOver } = fixture();
        const attempt = (attempts: number): CheckResult =>
          resultOfRun({
            ...{ slot: minutesAgo(1), origin: 'berlin', runLocation: 'oslo' },
            ...{ attempts, resultType: attempts === 2 ? 'FINAL' : 'ATTEMPT' },
          });
        const sent = { results: [0, 1, 2].map(attempt) };
        const refused = 'foreign_location';
        expect(codesIn(await send(oslo, sent))).toEqual([refused, refused, refused]);
        await handOver(oslo, attempt(1));
        const reply = await send(oslo, sent);
        expect(reply.json.accepted).toEqual([attempt(1).id, attempt(2).id]);
        expect(codesIn(reply)).toEqual([refused]);
      });
    });

    it('are refused for a location that is gone', async () => {
      const { running, berlin, mine } = fixture();
      const caller = { accountId: mine.accountId, locationId: 'gone', keyId: 'k' };
      const message = { agentId: 'a', epoch: 1, results: [], missed: [] };
      await expect(running.features.resultIntake.take(caller, message)).rejects.toMatchObject({
        status: 401,
      });
      expect(
        (await running.app.ask('/agent/v1/results', { key: null, method: 'POST' })).status,
      ).not.toBe(200);
      expect(berlin.slug).toBe('berlin');
    });

    it('of many checks at once are all stored', async () => {
      const { berlin, deliver, running, mine } = fixture();
      await manyChecks(fixture(), 450);
      const batch = Array.from({ length: 450 }, (_, n) =>
        resultOfRun({ slot: minutesAgo(2), checkId: `many-${n}`, responseTime: n }),
      );
      await deliver(berlin, { results: batch });
      const rows = await running.store.query(
        `select count(*)::int as results, (select sum(longest_run) from check_statuses
           where account_id = $1) as sum
         from check_results where account_id = $1`,
        [mine.accountId],
      );
      expect(rows).toEqual([{ results: 450, sum: (449 * 450) / 2 }]);
    });
  });
});

async function manyChecks({ running, mine, berlin }: ResultsFixture, count: number): Promise<void> {
  await running.store.query(
    `insert into checks (account_id, id, check_type, name, activated, muted, frequency, body)
     select $1, 'many-' || n, 'URL', 'many', true, false, 1,
       '{"privateLocations": ["berlin"]}'::jsonb
     from generate_series(0, $2::int - 1) n`,
    [mine.accountId, count],
  );
  await running.store.query(
    `insert into assigned_slots (location_id, check_id, since)
     select $1, 'many-' || n, to_timestamp(0) from generate_series(0, $2::int - 1) n`,
    [berlin.id, count],
  );
}
