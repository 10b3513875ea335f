import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { sequenceIdOf } from '../../../../src/model/ids.ts';
import { lastSlotAt, slotRuleOf } from '../../../../src/model/schedule/slot-rule.ts';
import { MAX_ONE_OFF_BYTES } from '../../../../src/service/check-runs/check-runs.ts';
import { readOneOff } from '../../../../src/wire/v1/assignment.ts';
import { databases } from '../../../support/database/databases.ts';
import {
  CAPABILITIES,
  idsOf,
  RunsFixture,
  type TestLocation,
  useRunsService,
  wakes,
} from '../../../support/service/check-runs-fixture.ts';
import { problemsIn, useAccounts } from '../../../support/service/service-fixture.ts';

const MINUTE_MS = 60_000;

/** Runs on request, and the agents that get them. */
describe.each(databases)('on %s', (kind) => {
  describe('check runs', () => {
    const running = useRunsService(kind);
    const service = useAccounts(running);
    let fixture: RunsFixture;
    let cellar: TestLocation;
    let attic: TestLocation;

    beforeEach(async () => {
      fixture = new RunsFixture(running(), service().mine.accountId);
      cellar = await fixture.location('cellar');
      attic = await fixture.location('attic');
      await fixture.check('ssh', [cellar, attic]);
    });

    describe('on request', () => {
      it('wait for an agent, and can be read', async () => {
        const { mine, theirs, clock } = service();
        const made = await mine.post('/v1/checks/ssh/run');
        expect(made.status).toBe(201);
        const slotMs = clock.wallMs();
        expect(made.json).toEqual({
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          checkId: 'ssh',
          location: 'cellar',
          reason: 'requested',
          state: 'waiting',
          slot: new Date(slotMs).toISOString(),
          checkRunId: slotMs,
          sequenceId: sequenceIdOf('ssh', 'cellar', slotMs),
          created_at: expect.any(String),
          createdAt: made.json.created_at,
          notAfter: expect.any(String),
          resultId: null,
        });
        const { created_at, notAfter } = made.json;
        expect(Date.parse(notAfter) - Date.parse(created_at)).toBe(10 * MINUTE_MS);
        const path = `/v1/check-runs/${made.json.id}`;
        expect((await mine.get(path)).json).toEqual(made.json);
        expect((await theirs.get(path)).status).toBe(404);
        expect((await mine.get(`/v1/check-runs/${randomUUID()}`)).status).toBe(404);
        expect((await mine.get('/v1/check-runs/1')).status).toBe(400);
      });

      it('run in the first location that has an agent for them', async () => {
        await fixture.join(cellar, 'old', { ...CAPABILITIES, types: ['URL'] });
        expect((await fixture.request('ssh')).location).toBe('cellar');
        const agent = await fixture.join(attic, 'a');
        expect((await fixture.request('ssh')).location).toBe('attic');
        await fixture.join(cellar, 'b');
        expect((await fixture.request('ssh')).location).toBe('cellar');
        await fixture.endLease(agent);
        expect((await fixture.request('ssh', attic)).location).toBe('attic');
      });

      it('run in the locations of the group if that names any', async () => {
        const { mine, features } = service();
        const create = (privateLocations: readonly string[] | null) =>
          features.checkGroups.create(mine.accountId, { name: 'group', privateLocations });
        const named = await create(['attic']);
        await fixture.check('grouped', [cellar], { groupId: named.id });
        expect((await fixture.request('grouped')).location).toBe('attic');
        const refused = await mine.post('/v1/checks/grouped/run', { location: 'cellar' });
        expect(problemsIn(refused)).toEqual([
          'body.location must be a private location of the check: attic',
        ]);
        const unnamed = await create([]);
        await fixture.check('grouped', [cellar], { groupId: unnamed.id });
        expect((await fixture.request('grouped')).location).toBe('cellar');
      });

      it.each([
        [{ location: 'vault' }, 'body.location must be a private location of the check: cellar,'],
        [{ location: 'eu-west-1' }, 'body.location must be a private location'],
        [{ location: '' }, 'body.location'],
        [{ location: `'; drop table one_off_runs; --` }, 'body.location'],
        [{ location: 7 }, 'body.location'],
        [{ region: 'cellar' }, 'body.region is not a known field'],
        [['cellar'], 'body'],
      ])('refuse %j', async (body, problem) => {
        const { mine } = service();
        const refused = await mine.post('/v1/checks/ssh/run', body);
        expect(refused.status).toBe(400);
        expect(problemsIn(refused).join('\n')).toContain(problem);
      });

      it('accept any form of an empty location', async () => {
        const { mine } = service();
        for (const body of [undefined, {}, { location: null }]) {
          expect((await mine.post('/v1/checks/ssh/run', body)).status).toBe(201);
        }
      });

      it('need a private location', async () => {
        const { mine } = service();
        await fixture.check('public', []);
        const refused = await mine.post('/v1/checks/public/run');
        expect(refused.status).toBe(400);
        expect(problemsIn(refused)[0]).toContain('body.location must be a private location');
      });

      it('run only checks of the account, including deactivated ones, and need the role run', async () => {
        const { mine, theirs, clientWith } = service();
        expect((await theirs.post('/v1/checks/ssh/run')).status).toBe(404);
        expect((await mine.post('/v1/checks/gone/run')).status).toBe(404);
        await fixture.check('ssh', [cellar], { activated: false });
        expect((await (await clientWith('read')).post('/v1/checks/ssh/run')).status).toBe(403);
        expect((await (await clientWith('run')).post('/v1/checks/ssh/run')).status).toBe(201);
      });

      it('have slots of their own, which no scheduled run has', async () => {
        const { clock } = service();
        const rule = slotRuleOf('ssh', 10, null);
        clock.stepWall(lastSlotAt(rule, clock.wallMs()) + rule.periodMs - clock.wallMs());
        const slotMs = clock.wallMs();
        const atOnce = await Promise.all([1, 2, 3].map(() => fixture.request('ssh')));
        clock.stepWall(1);
        const later = await Promise.all([1, 2].map(() => fixture.request('ssh')));
        const fromSlot = (runs: typeof later) =>
          new Set(runs.map(({ slot }) => slot.getTime() - slotMs));
        expect(fromSlot(atOnce)).toEqual(new Set([-1, -2, -3]));
        expect(fromSlot(later)).toEqual(new Set([1, -4]));
        const runs = [...atOnce, ...later];
        expect(new Set(runs.map(({ sequenceId }) => sequenceId)).size).toBe(5);
        for (const { slot, sequenceId } of runs) {
          expect(sequenceId).toBe(sequenceIdOf('ssh', 'cellar', slot.getTime()));
        }
      });

      it('are limited in each location', async () => {
        const { mine, store } = service();
        await store.query(
          `insert into one_off_runs (id, account_id, location_id, check_id, reason, slot,
             sequence_id, not_after)
           select gen_random_uuid()::text, $1, $2, 'ssh', 'requested', now(), n::text,
             now() + interval '1 minute' from generate_series(1, 1000) n`,
          [mine.accountId, cellar.id],
        );
        const refused = await mine.post('/v1/checks/ssh/run');
        expect(refused.status).toBe(409);
        expect(refused.json.attributes).toEqual({ location: 'cellar', limit: 1000 });
        const elsewhere = await mine.post('/v1/checks/ssh/run', { location: 'attic' });
        expect(elsewhere.status).toBe(201);
      });

      it('are limited at the same moment, in a location that has room', async () => {
        const { mine, store, clock } = service();
        const { slot } = await fixture.request('ssh');
        const taken = Array.from({ length: 150 }, (_, back) => slot.getTime() - back);
        // Ended runs take their slots, too.
        await store.query(
          `insert into one_off_runs (id, account_id, location_id, check_id, reason, state, slot,
             sequence_id, not_after)
           select gen_random_uuid()::text, $1, $2, 'ssh', 'requested', 'done', to_timestamp(ms / 1000.0),
             sequence_id, now()
           from unnest($3::float8[], $4::text[]) taken (ms, sequence_id)
           on conflict do nothing`,
          [mine.accountId, cellar.id, taken, taken.map((ms) => sequenceIdOf('ssh', 'cellar', ms))],
        );
        const refused = await mine.post('/v1/checks/ssh/run');
        expect(refused.status).toBe(409);
        expect(refused.json).toMatchObject({
          message: expect.stringContaining('at this moment; try again'),
          attributes: { location: 'cellar', slots: 100 },
        });
        expect((await mine.post('/v1/checks/ssh/run', { location: 'attic' })).status).toBe(201);
        clock.stepWall(1);
        expect((await mine.post('/v1/checks/ssh/run')).status).toBe(201);
      });

      it('wake the polls of their location', async () => {
        await wakes(service().store, attic, () => fixture.request('ssh', attic));
      });
    });

    describe('given to agents', () => {
      it('are sent until they are closed, in the format of the wire', async () => {
        const agent = await fixture.join(cellar, 'a');
        const run = await fixture.request('ssh');
        const [message, ...others] = await fixture.claim(agent);
        expect(others).toEqual([]);
        expect(message).toMatchObject({
          runId: run.id,
          checkId: 'ssh',
          reason: 'requested',
          slot: run.slot.getTime(),
          sequenceId: run.sequenceId,
          notBefore: null,
          notAfter: run.notAfter.getTime(),
          retriesMade: 0,
          firstStartedAt: null,
        });
        const read = message && readOneOff(JSON.parse(JSON.stringify(message)));
        expect(read).toMatchObject({
          ok: true,
          ignored: [],
          value: { check: { id: 'ssh', checkType: 'TCP', groupId: null } },
        });
        expect(await stateOf(run.id)).toBe('assigned');
        expect(await fixture.claim(agent)).toEqual([message]);
        await fixture.close(agent, run.id, randomUUID());
        expect(await fixture.claim(agent)).toEqual([]);
        expect(await stateOf(run.id)).toBe('assigned');
      });

      it('go to the agent that has the check, or to any if no live agent has it', async () => {
        const has = await fixture.join(cellar, 'has');
        const other = await fixture.join(cellar, 'other');
        await fixture.assign('ssh', has);
        const run = await fixture.request('ssh');
        expect(await fixture.claim(other)).toEqual([]);
        await fixture.endLease(has);
        expect(await fixture.claim(has)).toEqual([]);
        expect(idsOf(await fixture.claim(other))).toEqual([run.id]);
      });

      it('move to the next agent with the same slot when the lease of the first has ended', async () => {
        const first = await fixture.join(cellar, 'first');
        const run = await fixture.request('ssh');
        const [told] = await fixture.claim(first);
        const second = await fixture.join(cellar, 'second');
        expect(await fixture.claim(second)).toEqual([]);
        await fixture.endLease(first);
        expect(await fixture.claim(second)).toEqual([told]);
        // An agent that returns late has lost the run, and cannot close it.
        const again = await fixture.join(cellar, 'first');
        expect(await fixture.claim(again)).toEqual([]);
        await fixture.close(again, run.id);
        expect(await fixture.claim(second)).toEqual([told]);
      });

      it('are sent again to the same agent with a new lease, which may close them', async () => {
        const before = await fixture.join(cellar, 'a');
        const run = await fixture.request('ssh');
        const told = await fixture.claim(before);
        const after = await fixture.join(cellar, 'a');
        expect(await fixture.claim(before)).toEqual([]);
        expect(await fixture.claim(after)).toEqual(told);
        await fixture.close(before, run.id);
        expect(await fixture.claim(after)).toEqual(told);
        const later = await fixture.join(cellar, 'a');
        await fixture.close(later, run.id);
        expect(await fixture.claim(later)).toEqual([]);
      });

      it('go to agents that can run the check', async () => {
        await fixture.check('ping', [cellar], { checkType: 'ICMP', request: { hostname: 'h' } });
        const run = await fixture.request('ping');
        const old = await fixture.join(cellar, 'old', { ...CAPABILITIES, types: ['TCP', 'URL'] });
        const bare = await fixture.join(cellar, 'bare', { ...CAPABILITIES, icmp: false });
        expect([await fixture.claim(old), await fixture.claim(bare)]).toEqual([[], []]);
        const able = await fixture.join(cellar, 'able');
        expect(idsOf(await fixture.claim(able))).toEqual([run.id]);
      });

      it('are those of their location that may still be started', async () => {
        const here = await fixture.join(cellar, 'a');
        const there = await fixture.join(attic, 'a');
        const run = await fixture.request('ssh', attic);
        expect(await fixture.claim(here)).toEqual([]);
        expect(await fixture.claim({ ...there, accountId: service().theirs.accountId })).toEqual(
          [],
        );
        expect(idsOf(await fixture.claim(there))).toEqual([run.id]);
        await fixture.spend(run.id, 10 * MINUTE_MS);
        expect(await fixture.claim(there)).toEqual([]);
      });

      it('are sent in several answers if the checks are large', async () => {
        const { mine, store } = service();
        const agent = await fixture.join(cellar, 'a');
        await store.query(
          `update checks set body = body || jsonb_build_object('description', repeat('d', $2::int))
           where account_id = $1 and id = 'ssh'`,
          [mine.accountId, MAX_ONE_OFF_BYTES / 2],
        );
        const runs = await all([1, 2, 3], () => fixture.request('ssh'));
        for (const run of runs) {
          expect(idsOf(await fixture.claim(agent))).toEqual([run.id]);
          await fixture.close(agent, run.id);
        }
      });

      it('are deleted with their check', async () => {
        const agent = await fixture.join(cellar, 'a');
        await fixture.request('ssh');
        expect(await fixture.claim(agent)).toHaveLength(1);
        await service().features.checks.remove({ accountId: service().mine.accountId, id: 'ssh' });
        expect(await fixture.claim(agent)).toEqual([]);
      });
    });

    describe('whose final result is stored', () => {
      it('are done, and name it', async () => {
        const { mine } = service();
        const agent = await fixture.join(cellar, 'a');
        const run = await fixture.request('ssh');
        const other = await fixture.request('ssh');
        await fixture.claim(agent);
        const resultId = await fixture.final(run);
        const done = (await mine.get(`/v1/check-runs/${run.id}`)).json;
        expect(done).toMatchObject({ state: 'done', resultId });
        expect(idsOf(await fixture.claim(agent))).toEqual([other.id]);
        expect(await stateOf(other.id)).toBe('assigned');
      });

      it('belong to the same account only', async () => {
        const { theirs } = service();
        const theirFixture = new RunsFixture(running(), theirs.accountId);
        const theirCellar = await theirFixture.location('cellar');
        await theirFixture.check('ssh', [theirCellar]);
        const run = await fixture.request('ssh');
        const their = await theirFixture.request('ssh');
        expect(their.sequenceId).toBe(run.sequenceId);
        await theirFixture.final(their);
        expect(await stateOf(run.id)).toBe('waiting');
      });

      it('are done also if they had expired before', async () => {
        const run = await fixture.request('ssh');
        await fixture.spend(run.id, 10 * MINUTE_MS + 1);
        await running().features.checkRuns.sweep();
        expect(await stateOf(run.id)).toBe('expired');
        await fixture.final(run);
        expect(await stateOf(run.id)).toBe('done');
      });
    });

    async function stateOf(runId: string): Promise<string> {
      return (
        await running().features.checkRuns.get({ accountId: service().mine.accountId, id: runId })
      ).state;
    }
  });
});

/** One after the other, so that they keep this order. */
async function all<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}
