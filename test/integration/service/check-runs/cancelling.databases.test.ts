import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { sequenceIdOf } from '../../../../src/model/ids.ts';
import { cancelRuns } from '../../../../src/service/check-runs/cancelling.ts';
import { databases } from '../../../support/database/databases.ts';
import { HTTP_DETAIL } from '../../../support/samples/http-results.ts';
import {
  idsOf,
  RunsFixture,
  type TestAgent,
  type TestLocation,
  useRunsService,
  wakes,
} from '../../../support/service/check-runs-fixture.ts';
import { resultOfRun, useResultsFixture } from '../../../support/service/results-fixture.ts';
import { useAccounts } from '../../../support/service/service-fixture.ts';

/** Runs on request that a user cancels. */
describe.each(databases)('on %s', (kind) => {
  const running = useRunsService(kind);

  describe('a run on request that is cancelled', () => {
    const service = useAccounts(running);
    let fixture: RunsFixture;
    let cellar: TestLocation;
    let attic: TestLocation;
    let agent: TestAgent;

    beforeEach(async () => {
      fixture = new RunsFixture(running(), service().mine.accountId);
      cellar = await fixture.location('cellar');
      attic = await fixture.location('attic');
      await fixture.check('ssh', [cellar, attic], {
        retryStrategy: { type: 'FIXED', baseBackoffSeconds: 0, maxRetries: 2, sameRegion: false },
      });
      agent = await fixture.join(cellar, 'a');
    });

    const cancel = (id: string) => service().mine.delete(`/v1/check-runs/${id}`);
    const stateOf = async (id: string) => (await service().mine.get(`/v1/check-runs/${id}`)).json;
    const toBeCancelled = (who: TestAgent) =>
      running().features.checkRuns.toBeCancelled(running().store, who);

    it('is given to no agent if it waits, and stays without a result', async () => {
      const run = await fixture.request('ssh', cellar);
      const other = await fixture.request('ssh', cellar);
      expect((await cancel(run.id)).status).toBe(204);
      expect(idsOf(await fixture.claim(agent))).toEqual([other.id]);
      expect(await toBeCancelled(agent)).toEqual([]);
      expect(await stateOf(run.id)).toMatchObject({ state: 'cancelled', resultId: null });
      expect((await cancel(run.id)).status).toBe(204);
      const { json: entries } = await service().mine.get('/v1/audit-log?kind=check-run');
      expect(entries.at(-1)).toMatchObject({
        action: 'cancel',
        resourceId: run.id,
        changes: [{ field: 'state', before: 'waiting', after: 'cancelled' }],
      });
    });

    it('is sent to its agent as cancelled until the agent has closed it', async () => {
      const run = await fixture.request('ssh', cellar);
      await fixture.claim(agent);
      await wakes(running().store, cellar, () => cancel(run.id));
      expect(await stateOf(run.id)).toMatchObject({ state: 'cancelled', resultId: null });
      expect(await fixture.claim(agent)).toEqual([]);
      expect(await toBeCancelled(agent)).toEqual([run.id]);
      expect(await toBeCancelled(await fixture.join(cellar, 'b'))).toEqual([]);
      // After a lost lease it may still be running there.
      const again = await fixture.join(cellar, 'a');
      expect(await toBeCancelled(again)).toEqual([run.id]);
      await fixture.close(again, run.id);
      expect(await toBeCancelled(again)).toEqual([]);
    });

    it('ends in the location that has its retry, and nobody gets the next one', async () => {
      const there = await fixture.join(attic, 'b');
      await fixture.assign('ssh', agent);
      await fixture.assign('ssh', there);
      const run = await fixture.request('ssh', cellar);
      await fixture.claim(agent);
      const attempt = { slot: run.slot.getTime(), sequenceId: run.sequenceId };
      const given = await fixture.offer(cellar, agent, 'ssh', attempt);
      const retryId: string = given.json.runId;
      await running().store.query('update one_off_runs set not_before = null where id = $1', [
        retryId,
      ]);
      expect(idsOf(await fixture.claim(there))).toEqual([retryId]);
      expect((await cancel(run.id)).status).toBe(204);
      expect(await toBeCancelled(there)).toEqual([retryId]);
      expect(await stateOf(retryId)).toMatchObject({ reason: 'retry', state: 'cancelled' });
      const next = { ...attempt, retriesMade: 2 };
      const refused = await fixture.offer(attic, there, 'ssh', next);
      expect(refused.json).toEqual({ runId: null, location: null });
      expect(await fixture.claim(agent)).toEqual([]);
    });

    it('must not have ended, nor be a retry of a scheduled run', async () => {
      const done = await fixture.request('ssh', cellar);
      await fixture.final(done);
      const late = await fixture.request('ssh', cellar);
      await fixture.spend(late.id, 3_600_000);
      await running().features.checkRuns.sweep();
      await fixture.assign('ssh', agent);
      await fixture.assign('ssh', await fixture.join(attic, 'b'));
      const slot = service().clock.wallMs() - 60_000;
      const scheduled = { slot, sequenceId: sequenceIdOf('ssh', 'cellar', slot) };
      const given = await fixture.offer(cellar, agent, 'ssh', scheduled);
      const refusals = await Promise.all([done.id, late.id, given.json.runId].map(cancel));
      expect(refusals.map(({ status, json }) => [status, json.attributes])).toEqual([
        [409, { reason: 'ended' }],
        [409, { reason: 'ended' }],
        [409, { reason: 'scheduled' }],
      ]);
      expect(await stateOf(done.id)).toMatchObject({ state: 'done' });
      expect(await stateOf(late.id)).toMatchObject({ state: 'expired' });
    });

    it('is one of the account, and needs the role run', async () => {
      const { theirs, clientWith } = service();
      const run = await fixture.request('ssh', cellar);
      const path = `/v1/check-runs/${run.id}`;
      expect((await theirs.delete(path)).status).toBe(404);
      expect((await cancel(randomUUID())).status).toBe(404);
      expect((await (await clientWith('read')).delete(path)).status).toBe(403);
      expect(await stateOf(run.id)).toMatchObject({ state: 'waiting' });
      expect((await (await clientWith('run')).delete(path)).status).toBe(204);
    });

    it('may be one of many, each with its own outcome', async () => {
      const [one, two] = [await fixture.request('ssh'), await fixture.request('ssh')];
      await fixture.final(two);
      const nobody = randomUUID();
      const { accountId } = service().mine;
      const outcomes = await running().store.transaction((tx) =>
        cancelRuns(tx, accountId, [one.id, two.id, nobody]),
      );
      expect([...outcomes.values()]).toEqual(['cancelled', 'ended', 'unknown']);
    });
  });

  describe('the result of a cancelled run', () => {
    const fixture = useResultsFixture(running);

    it('does not affect the status, although its agent did not know of the cancellation', async () => {
      const { mine, berlin, deliver } = fixture();
      const { json: run } = await mine.post('/v1/checks/shop/run', { location: 'berlin' });
      expect((await mine.delete(`/v1/check-runs/${run.id}`)).status).toBe(204);
      const final = resultOfRun({
        slot: run.checkRunId,
        hasFailures: true,
        overMaxResponseTime: true,
        apiCheckResult: { ...HTTP_DETAIL, response: null, requestError: 'refused' },
      });
      await deliver(berlin, { results: [final] });
      expect((await mine.get(`/v1/check-results/shop/${final.id}`)).json).toMatchObject({
        isCancelled: true,
        hasFailures: false,
        overMaxResponseTime: false,
        errorGroupIds: [],
      });
      expect((await mine.get('/v1/check-statuses/shop')).json).toBeNull();
      expect((await mine.get('/v1/error-groups')).json).toEqual([]);
      expect((await mine.get(`/v1/check-runs/${run.id}`)).json).toMatchObject({
        state: 'cancelled',
        resultId: final.id,
      });
    });

    it('that was stored before counts, and the run has ended', async () => {
      const { mine, berlin, deliver } = fixture();
      const { json: run } = await mine.post('/v1/checks/shop/run', { location: 'berlin' });
      await deliver(berlin, { results: [resultOfRun({ slot: run.checkRunId })] });
      expect((await mine.delete(`/v1/check-runs/${run.id}`)).status).toBe(409);
      expect((await mine.get('/v1/check-statuses/shop')).json).toMatchObject({
        hasFailures: false,
      });
    });
  });
});
