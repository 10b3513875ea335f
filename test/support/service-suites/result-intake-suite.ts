import { describe, expect, it } from 'vitest';
import type { CheckResult } from '../../../src/model/result.ts';
import type { DatabaseKind } from '../databases.ts';
import { HTTP_DETAIL } from '../http-results.ts';
import { shownResult } from '../shown-result.ts';
import {
  codesIn,
  DAY_MS,
  minutesAgo,
  NOW,
  RETENTION_DAYS,
  type ResultsWorld,
  resultOfRun,
  useResultsWorld,
} from './results-harness.ts';
import { useRunningService } from './service-harness.ts';

/** What agents bring, and what becomes of it. */
export function resultIntakeSuite(kind: DatabaseKind): void {
  describe(`results that agents bring to ${kind}`, () => {
    const world = useResultsWorld(useRunningService(kind));

    const results = async (query = '', checkId = 'shop'): Promise<CheckResult[]> => {
      const reply = await world().mine.get(`/v1/check-results/${checkId}?resultType=ALL${query}`);
      expect(reply.status).toBe(200);
      return reply.json;
    };
    const status = async (checkId = 'shop') =>
      (await world().mine.get(`/v1/check-statuses/${checkId}`)).json;

    it('are shown as they came, with the status of their check', async () => {
      const { berlin, deliver, clock } = world();
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
      expect(await status()).toEqual({
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

    it('are stored once, however often they come', async () => {
      const { berlin, deliver } = world();
      const attempt = resultOfRun({ slot: minutesAgo(1), resultType: 'ATTEMPT' });
      const final = resultOfRun({ slot: minutesAgo(1), attempts: 1 });
      const batch = { results: [attempt, final, final, attempt] };
      await deliver(berlin, batch);
      await deliver(berlin, batch);
      await deliver(berlin, { results: [{ ...final, hasFailures: true }] });
      expect(await results()).toHaveLength(2);
      expect(await status()).toMatchObject({ hasFailures: false });
    });

    it('of one run have one FINAL, the first that came', async () => {
      const { berlin, oslo, deliver } = world();
      const slot = minutesAgo(1);
      const handedOver = resultOfRun({ slot, origin: 'berlin', runLocation: 'oslo', attempts: 1 });
      await deliver(oslo, { results: [handedOver] });
      const own = resultOfRun({ slot, attempts: 2, hasFailures: true });
      await deliver(berlin, { results: [own] });
      expect((await results()).map(({ id }) => id)).toEqual([handedOver.id]);
      expect(await status()).toMatchObject({ hasFailures: false, lastRunLocation: 'oslo' });
    });

    it('raise an attempt that another agent made as its last', async () => {
      const { berlin, deliver } = world();
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

    it('that come late change what is older, and not the status', async () => {
      const { berlin, deliver } = world();
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

    it('are refused one by one, with the reason', async () => {
      const { berlin, send, mine } = world();
      const slot = minutesAgo(1);
      const good = resultOfRun({ slot });
      await world().check('gone');
      await mine.delete('/v1/checks/gone');
      const old = NOW - (RETENTION_DAYS + 1) * DAY_MS;
      const wrong: [string, unknown][] = [
        ['invalid', { ...good, responseTime: 'fast' }],
        ['invalid', null],
        ['invalid', { ...good, created_at: '0000-01-01T00:00:00.000Z' }],
        ['unknown_check', resultOfRun({ slot, checkId: 'none' })],
        ['unknown_check', resultOfRun({ slot, checkId: 'gone' })],
        ['foreign_location', resultOfRun({ slot, runLocation: 'oslo' })],
        ['too_old', resultOfRun({ slot: old })],
        ['in_future', resultOfRun({ slot: NOW + DAY_MS + 1 })],
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

    it('of a check of another account are of an unknown check', async () => {
      const { running, berlin, send, theirs } = world();
      const checks = running.features.checks;
      await checks.put(
        theirs.accountId,
        'theirs',
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

    describe('from a location that the check does not name', () => {
      const codesFor = async (result: CheckResult): Promise<readonly string[]> => {
        const { berlin, send } = world();
        return codesIn(await send(berlin, { results: [result] }));
      };
      const elsewhere = { privateLocations: ['oslo'] };

      it('are refused', async () => {
        await world().check('other', elsewhere);
        const later = NOW + 10 * 60_000;
        expect(await codesFor(resultOfRun({ slot: later, checkId: 'other' }))).toEqual([
          'foreign_location',
        ]);
      });

      it('are taken where its group names it', async () => {
        const { mine } = world();
        const fields = { name: 'g', privateLocations: ['berlin'] };
        const group = (await mine.post('/v1/check-groups', fields)).json.id;
        await world().check('other', { ...elsewhere, groupId: group });
        expect(await codesFor(resultOfRun({ slot: NOW + 60_000, checkId: 'other' }))).toEqual([]);
      });

      it('are taken where the run began before the check changed', async () => {
        await world().check('other', elsewhere);
        expect(await codesFor(resultOfRun({ slot: minutesAgo(1), checkId: 'other' }))).toEqual([]);
      });

      it('are taken where the run began before the group that named it was deleted', async () => {
        const { mine, check, running } = world();
        const fields = { name: 'g', privateLocations: ['berlin'] };
        const group = (await mine.post('/v1/check-groups', fields)).json.id;
        await check('other', { ...elsewhere, groupId: group });
        // Both have been so for long when the run begins.
        await running.store.query(`update checks set created_at = created_at - interval '1 hour'`);
        expect((await mine.delete(`/v1/check-groups/${group}`)).status).toBe(204);
        expect(await codesFor(resultOfRun({ slot: minutesAgo(1), checkId: 'other' }))).toEqual([]);
      });

      it('are taken where the run was asked for there, and end it', async () => {
        const { running, mine, check } = world();
        const { checkRuns } = running.features;
        await check('other', { privateLocations: ['berlin'] });
        const run = await checkRuns.request(mine.accountId, 'other', { location: 'berlin' });
        await check('other', elsewhere);
        const final = resultOfRun({ slot: run.slot.getTime(), checkId: 'other' });
        const later = { startedAt: new Date(NOW + 60_000).toISOString() };
        const times = { ...later, stoppedAt: later.startedAt };
        expect(final.sequenceId).toBe(run.sequenceId);
        expect(await codesFor({ ...final, ...times })).toEqual([]);
        expect(await checkRuns.get(mine.accountId, run.id)).toMatchObject({ state: 'done' });
        // Another run of the same check was not.
        const other = resultOfRun({ slot: NOW + 1, checkId: 'other' });
        expect(await codesFor({ ...other, ...times })).toEqual(['foreign_location']);
      });
    });

    it('are not taken for a location that is gone', async () => {
      const { running, berlin, mine } = world();
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
      const { berlin, deliver, running, mine } = world();
      await manyChecks(world(), 450);
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
}

async function manyChecks({ running, mine }: ResultsWorld, count: number): Promise<void> {
  await running.store.query(
    `insert into checks (account_id, id, check_type, name, activated, muted, frequency, body)
     select $1, 'many-' || n, 'URL', 'many', true, false, 1,
       '{"privateLocations": ["berlin"]}'::jsonb
     from generate_series(0, $2::int - 1) n`,
    [mine.accountId, count],
  );
}
