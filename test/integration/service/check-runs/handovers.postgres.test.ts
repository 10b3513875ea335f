import { beforeEach, describe, expect, it } from 'vitest';
import { sequenceIdOf } from '../../../../src/model/ids.ts';
import type { CheckRuns } from '../../../../src/service/check-runs/check-runs.ts';
import { createCheckRuns } from '../../../../src/service/check-runs/check-runs.ts';
import { databases, openTestStore, silentLog } from '../../../support/database/databases.ts';
import { eventually } from '../../../support/eventually.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { captureLog } from '../../../support/log-capture.ts';
import {
  idsOf,
  RunsFixture,
  type TestAgent,
  type TestLocation,
  useRunsService,
  wakes,
} from '../../../support/service/check-runs-fixture.ts';
import { TEST_CHECK_VARIABLES } from '../../../support/service/service-features.ts';
import { problemsIn, useAccounts } from '../../../support/service/service-fixture.ts';

const MINUTE_MS = 60_000;
const NOBODY = { runId: null, location: null };
const ELSEWHERE = {
  retryStrategy: { type: 'FIXED', baseBackoffSeconds: 10, maxRetries: 2, sameRegion: false },
};
const OTHER = { ids: () => 'x', checkVariables: TEST_CHECK_VARIABLES };

/** Retries that one location hands to another, and runs that no agent makes. */
describe.each(databases)('on %s', (kind) => {
  describe('handed over retries', () => {
    const running = useRunsService(kind);
    const service = useAccounts(running);
    let fixture: RunsFixture;
    /** Three locations in the check's order, with the agent of each that has the check. */
    let locations: readonly [TestLocation, TestLocation, TestLocation];
    let agents: readonly [TestAgent, TestAgent, TestAgent];
    let checkRuns: CheckRuns;

    beforeEach(async () => {
      checkRuns = running().features.checkRuns;
      // A pass handles the runs of all accounts.
      await running().store.query('delete from one_off_runs');
      fixture = new RunsFixture(running(), service().mine.accountId);
      locations = [
        await fixture.location('a'),
        await fixture.location('b'),
        await fixture.location('c'),
      ];
      await fixture.check('ssh', locations, ELSEWHERE);
      agents = [await joined(locations[0]), await joined(locations[1]), await joined(locations[2])];
    });

    async function joined(location: TestLocation): Promise<TestAgent> {
      const agent = await fixture.join(location, `agent-${location.slug}`);
      await fixture.assign('ssh', agent);
      return agent;
    }

    /** A retry of the first location's run, in the second one. */
    async function handedOver(): Promise<string> {
      const { json } = await fixture.offer(locations[0], agents[0], 'ssh');
      expect(json.location).toBe('b');
      return json.runId;
    }

    async function stateOf(runId: string): Promise<string> {
      return (await checkRuns.get({ accountId: service().mine.accountId, id: runId })).state;
    }

    describe('are given', () => {
      it('to the next location, which is woken and gets the whole run (trust model AC9)', async () => {
        const { clock, mine, store } = service();
        const slot = clock.wallMs();
        const notBefore = Date.now() + 10_000;
        let answer = NOBODY as { runId: string | null; location: string | null };
        await wakes(store, locations[1], async () => {
          const reply = await fixture.offer(locations[0], agents[0], 'ssh', {
            retriesMade: 2,
            notBefore,
          });
          expect(reply.status).toBe(200);
          answer = reply.json;
        });
        expect(answer).toEqual({ runId: expect.stringMatching(/^[0-9a-f-]{36}$/), location: 'b' });
        const told = await fixture.claim(agents[1]);
        expect(told).toEqual([
          {
            runId: answer.runId,
            checkId: 'ssh',
            check: expect.objectContaining({ checkType: 'TCP' }),
            reason: 'retry',
            slot,
            sequenceId: sequenceIdOf('ssh', 'a', slot),
            notBefore,
            notAfter: notBefore + MINUTE_MS,
            retriesMade: 2,
            firstStartedAt: slot + 5,
            scripts: null,
          },
        ]);
        expect((await mine.get(`/v1/check-runs/${answer.runId}`)).json).toMatchObject({
          location: 'b',
          reason: 'retry',
          state: 'assigned',
          slot: new Date(slot).toISOString(),
        });
        expect(await fixture.claim(agents[0])).toEqual([]);
      });

      it('in the order of the check, from its own location on, where an agent is live', async () => {
        const to = async (index: 0 | 1 | 2): Promise<unknown> => {
          service().clock.spend(1);
          return (await fixture.offer(locations[index], agents[index], 'ssh')).json.location;
        };
        expect([await to(0), await to(1), await to(2)]).toEqual(['b', 'c', 'a']);
        await fixture.endLease(agents[1]);
        expect([await to(0), await to(2)]).toEqual(['c', 'a']);
        await fixture.endLease(agents[2]);
        expect(await to(0)).toBeNull();
        // The location has another agent, which does not have the check yet.
        await fixture.join(locations[1], 'new');
        expect(await to(0)).toBeNull();
      });

      it('not to a location where too many runs wait (trust model AC9)', async () => {
        const { mine, store } = service();
        await store.query(
          `insert into one_off_runs (id, account_id, location_id, check_id, reason, slot,
             sequence_id, not_after)
           select gen_random_uuid()::text, $1, $2, 'ssh', 'requested', now(), n::text,
             now() + interval '1 minute' from generate_series(1, 1000) n`,
          [mine.accountId, locations[1].id],
        );
        expect((await fixture.offer(locations[0], agents[0], 'ssh')).json.location).toBe('c');
      });

      it('once, however often the agent asks', async () => {
        const offers = await Promise.all(
          [1, 2, 3, 4].map(() => fixture.offer(locations[0], agents[0], 'ssh')),
        );
        const [first, ...others] = offers.map(({ json }) => json);
        expect(first.location).toBe('b');
        for (const other of others) expect(other).toEqual(first);
        // The same answer although no location could take it any more.
        await fixture.endLease(agents[1]);
        await fixture.endLease(agents[2]);
        expect((await fixture.offer(locations[0], agents[0], 'ssh')).json).toEqual(first);
        const rows = await service().store.query('select from one_off_runs where account_id = $1', [
          fixture.accountId,
        ]);
        expect(rows).toHaveLength(1);
      });

      it('to nobody for an agent that lost its lease', async () => {
        const offer = async (agent: TestAgent) =>
          (await fixture.offer(locations[0], agent, 'ssh')).json;
        const [before] = agents;
        const after = await fixture.join(locations[0], before.agentId);
        expect(await offer(before)).toEqual(NOBODY);
        expect(await offer({ ...after, agentId: 'somebody' })).toEqual(NOBODY);
        await fixture.endLease(after);
        expect(await offer(after)).toEqual(NOBODY);
      });

      it('to nobody for runs of other locations (trust model AN17)', async () => {
        const { clock, store } = service();
        const slot = clock.wallMs();
        const offer = async (checkId: string, changes: Readonly<Record<string, unknown>>) =>
          (await fixture.offer(locations[0], agents[0], checkId, changes)).json;
        const foreign = { sequenceId: sequenceIdOf('ssh', 'b', slot) };
        expect(await offer('ssh', foreign)).toEqual(NOBODY);
        expect(await offer('gone', {})).toEqual(NOBODY);
        await fixture.check('not-here', [locations[1], locations[2]], ELSEWHERE);
        expect(await offer('not-here', {})).toEqual(NOBODY);
        // Not even after the other location has handed it to a third one.
        expect((await fixture.offer(locations[1], agents[1], 'ssh')).json.location).toBe('c');
        expect(await offer('ssh', { ...foreign, retriesMade: 2 })).toEqual(NOBODY);
        // Its own run id, but the slot is assigned to others.
        await store.query('delete from assigned_slots where location_id = $1', [locations[0].id]);
        expect(await offer('ssh', {})).toEqual(NOBODY);
      });

      it('to nobody for a slot that is not recent (trust model AC9)', async () => {
        const nowMs = running().clock.wallMs();
        await running().store.query(
          `update assigned_slots set since = to_timestamp(0), period_ms = null, phase_ms = null,
             stride = null, stride_index = null where check_id = 'ssh'`,
        );
        for (const slot of [
          nowMs + 61_000,
          nowMs + 50 * 365 * 86_400_000,
          nowMs - 61 * MINUTE_MS,
        ]) {
          const offered = { slot, sequenceId: sequenceIdOf('ssh', locations[0].slug, slot) };
          expect((await fixture.offer(locations[0], agents[0], 'ssh', offered)).json).toEqual(
            NOBODY,
          );
        }
        const slot = nowMs - 59 * MINUTE_MS;
        const offered = { slot, sequenceId: sequenceIdOf('ssh', locations[0].slug, slot) };
        expect((await fixture.offer(locations[0], agents[0], 'ssh', offered)).json.location).toBe(
          'b',
        );
      });

      async function planned(plan: Readonly<Record<string, unknown>>): Promise<void> {
        await fixture.check('planned', locations, plan);
        for (const agent of agents) await fixture.assign('planned', agent);
      }

      it.each([
        ['fewer', ELSEWHERE, 3],
        ['none', { retryStrategy: { type: 'NO_RETRIES' } }, 1],
        ['them here', { retryStrategy: { ...ELSEWHERE.retryStrategy, sameRegion: true } }, 1],
        ['one by doubleCheck', { doubleCheck: true }, 2],
        ['none by doubleCheck', { doubleCheck: false }, 1],
      ])(
        'to nobody where the plan of the check has %s (trust model AC9)',
        async (_, plan, retriesMade) => {
          await planned(plan);
          const { json } = await fixture.offer(locations[0], agents[0], 'planned', { retriesMade });
          expect(json).toEqual(NOBODY);
        },
      );

      it('by doubleCheck, and the same again after the check has changed', async () => {
        await planned({ doubleCheck: true });
        const offered = async () => (await fixture.offer(locations[0], agents[0], 'planned')).json;
        const first = await offered();
        expect(first.location).toBe('b');
        await planned({ doubleCheck: false });
        expect(await offered()).toEqual(first);
        service().clock.spend(1);
        expect(await offered()).toEqual(NOBODY);
      });

      it('with bounded times, whatever the clock of the agent says', async () => {
        const told = async (notBefore: number) => {
          service().clock.spend(1);
          await fixture.offer(locations[0], agents[0], 'ssh', { notBefore });
          const message = (await fixture.claim(agents[1])).at(-1);
          if (message === undefined) throw new Error('nothing was told');
          await fixture.close(agents[1], message.runId);
          return message;
        };
        const past = await told(0);
        expect(past.notBefore).toBe(0);
        expect(past.notAfter).toBeGreaterThan(Date.now());
        const far = await told(Date.UTC(9999, 11, 31));
        expect(far.notBefore).toBeLessThanOrEqual(Date.now() + 10 * MINUTE_MS);
        expect(far.notAfter).toBe((far.notBefore ?? 0) + MINUTE_MS);
      });

      it.each([
        [{ retriesMade: 0 }, 'body.retriesMade'],
        [{ retriesMade: 11 }, 'body.retriesMade'],
        [{ slot: 1.5 }, 'body.slot'],
        [{ checkId: `'; drop table one_off_runs; --` }, 'body.checkId'],
        [{ agentId: undefined }, 'body.agentId is missing'],
      ])('not for %j', async (changes, problem) => {
        const refused = await fixture.offer(locations[0], agents[0], 'ssh', changes);
        expect(refused.status).toBe(400);
        expect(problemsIn(refused).join('\n')).toContain(problem);
      });

      it('not without the key of a location', async () => {
        const { mine } = service();
        expect((await mine.post('/agent/v1/handovers', {})).status).toBe(426);
        const key = `pl_${'0'.repeat(32)}`;
        expect((await fixture.offer({ ...locations[0], key }, agents[0], 'ssh')).status).toBe(401);
      });
    });

    describe('continue', () => {
      it('to a further location, and are all done with the one final result', async () => {
        const { clock } = service();
        const slot = clock.wallMs();
        const sequenceId = sequenceIdOf('ssh', 'a', slot);
        const first = await handedOver();
        await fixture.claim(agents[1]);
        const offered = await fixture.offer(locations[1], agents[1], 'ssh', {
          sequenceId,
          retriesMade: 2,
        });
        expect(offered.json.location).toBe('c');
        const second = offered.json.runId;
        // The previous attempt has ended, and is sent to no agent again.
        await fixture.endLease(agents[1]);
        expect(await fixture.claim(await joined(locations[1]))).toEqual([]);
        expect(await fixture.claim(agents[2])).toMatchObject([
          { runId: second, sequenceId, slot, retriesMade: 2 },
        ]);
        await fixture.spend(first, 20 * MINUTE_MS);
        expect(await checkRuns.sweep()).toBe(0);
        await fixture.final({ checkId: 'ssh', sequenceId, slot });
        expect([await stateOf(first), await stateOf(second)]).toEqual(['done', 'done']);
      });

      it('from a requested run, which is done when its retry is', async () => {
        const run = await fixture.request('ssh', locations[0]);
        await fixture.claim(agents[0]);
        const { json } = await fixture.offer(locations[0], agents[0], 'ssh', {
          slot: run.slot.getTime(),
          sequenceId: run.sequenceId,
        });
        expect(json.location).toBe('b');
        expect(await fixture.claim(agents[0])).toEqual([]);
        expect(await stateOf(run.id)).toBe('assigned');
        const resultId = await fixture.final(run);
        expect(await checkRuns.get({ accountId: fixture.accountId, id: run.id })).toMatchObject({
          state: 'done',
          resultId,
        });
      });
    });

    describe('that no agent makes in time', () => {
      it('return to their location once, and are then recorded as missed', async () => {
        const { clock, store } = service();
        const slot = clock.wallMs();
        const runId = await handedOver();
        await fixture.spend(runId, 50_000);
        expect(await checkRuns.sweep()).toBe(0);
        await fixture.spend(runId, 20_001);
        await wakes(store, locations[0], () => checkRuns.sweep());
        expect(await fixture.claim(agents[1])).toEqual([]);
        const [told] = await fixture.claim(agents[0]);
        expect(told).toMatchObject({ runId, slot, sequenceId: sequenceIdOf('ssh', 'a', slot) });
        const leftMs = (told?.notAfter ?? 0) - Date.now();
        expect(leftMs).toBeGreaterThan(0);
        expect(leftMs).toBeLessThanOrEqual(MINUTE_MS);
        expect(await fixture.missed).toEqual([]);

        await fixture.endLease(agents[0]);
        await fixture.spend(runId, MINUTE_MS + 1);
        expect(await checkRuns.sweep()).toBe(1);
        expect(await stateOf(runId)).toBe('expired');
        const at = new Date(slot);
        expect(await fixture.missed).toEqual([
          {
            checkId: 'ssh',
            location: 'a',
            slot: at,
            lastSlot: at,
            count: 1,
            reason: 'retry_lost',
          },
        ]);
        expect(await checkRuns.sweep()).toBe(0);
        expect((await fixture.offer(locations[0], await joined(locations[0]), 'ssh')).json).toEqual(
          NOBODY,
        );
      });

      it('return also if an agent claimed them and is gone', async () => {
        const runId = await handedOver();
        await fixture.claim(agents[1]);
        await fixture.endLease(agents[1]);
        await fixture.spend(runId, 70_001);
        expect(await checkRuns.sweep()).toBe(1);
        expect(idsOf(await fixture.claim(agents[0]))).toEqual([runId]);
      });

      it('stay with a live agent until no run can take so long', async () => {
        const runId = await handedOver();
        await fixture.claim(agents[1]);
        await fixture.spend(runId, 70_001);
        expect(await checkRuns.sweep()).toBe(0);
        await fixture.spend(runId, 11 * MINUTE_MS);
        expect(await checkRuns.sweep()).toBe(1);
        expect(idsOf(await fixture.claim(agents[0]))).toEqual([runId]);
      });

      it('stay for as long as their results may be in the spool of the agent', async () => {
        const runId = await handedOver();
        await fixture.claim(agents[1]);
        await fixture.spend(runId, 70_001);
        await fixture.close(agents[1], runId);
        await fixture.endLease(agents[1]);
        await fixture.spend(runId, 20_000);
        expect(await checkRuns.sweep()).toBe(0);
        await fixture.spend(runId, 10_001);
        expect(await checkRuns.sweep()).toBe(1);
        expect(idsOf(await fixture.claim(agents[0]))).toEqual([runId]);
      });

      it('are no missed slot for a requested run', async () => {
        const run = await fixture.request('ssh', locations[0]);
        await fixture.claim(agents[0]);
        const { json } = await fixture.offer(locations[0], agents[0], 'ssh', {
          slot: run.slot.getTime(),
          sequenceId: run.sequenceId,
        });
        await fixture.spend(json.runId, 70_001);
        await checkRuns.sweep();
        expect(await stateOf(run.id)).toBe('assigned');
        await fixture.spend(json.runId, MINUTE_MS + 1);
        await checkRuns.sweep();
        expect([await stateOf(run.id), await stateOf(json.runId)]).toEqual(['expired', 'expired']);
        const alone = await fixture.request('ssh');
        await fixture.spend(alone.id, 10 * MINUTE_MS + 1);
        await checkRuns.sweep();
        expect(await stateOf(alone.id)).toBe('expired');
        expect(await fixture.missed).toEqual([]);
      });

      it('are no second missed slot if the slot is recorded already', async () => {
        const { clock, store } = service();
        const slot = clock.wallMs();
        const lose = async (): Promise<void> => {
          const { json } = await fixture.offer(locations[0], agents[0], 'ssh');
          for (const forMs of [70_001, MINUTE_MS + 1]) {
            await fixture.spend(json.runId, forMs);
            await checkRuns.sweep();
          }
          expect(await stateOf(json.runId)).toBe('expired');
        };
        const row = (location: string, fromMs: number, toMs: number, count: number) =>
          store.query(
            `insert into missed_slots (account_id, check_id, location, slot, last_slot, count, reason)
             values ($1, 'ssh', $2, $3::timestamptz, $4::timestamptz, $5, 'agent_stopped')`,
            [fixture.accountId, location, new Date(fromMs), new Date(toMs), count],
          );
        await row('a', slot - 2 * MINUTE_MS, slot + MINUTE_MS, 4);
        await lose();
        expect(await fixture.missed).toHaveLength(1);
        // A row over the instant that does not have it, and one of another location.
        clock.spend(MINUTE_MS / 2);
        await row('b', clock.wallMs(), clock.wallMs(), 1);
        await lose();
        expect(await fixture.missed).toHaveLength(3);
      });
    });

    describe('are maintained', () => {
      it('and deleted once their results are no longer accepted', async () => {
        const clock = new FakeClock();
        const stop = new AbortController();
        const { store } = service();
        const retentionDays = 7;
        const kept = createCheckRuns({ ...OTHER, store, clock, log: silentLog(), retentionDays });
        const old = await fixture.request('ssh');
        const recent = await fixture.request('ssh');
        const open = await fixture.request('ssh');
        await fixture.final(old);
        await fixture.final(recent);
        const keptMs = (retentionDays + 2) * 24 * 60 * MINUTE_MS;
        await fixture.spend(old.id, keptMs + 1000);
        await fixture.spend(recent.id, keptMs - 60_000);
        const ended = kept.maintain(stop.signal);
        await eventually(() => clock.pendingTimers > 0);
        stop.abort();
        await ended;
        expect(clock.pendingTimers).toBe(0);
        const get = (id: string) => kept.get({ accountId: fixture.accountId, id });
        await expect(get(old.id)).rejects.toMatchObject({ status: 404 });
        expect((await get(recent.id)).state).toBe('done');
        expect((await get(open.id)).state).toBe('waiting');
      });

      it('about every second', async () => {
        const clock = new FakeClock();
        const stop = new AbortController();
        const { store } = service();
        const kept = createCheckRuns({ ...OTHER, store, clock, log: silentLog() });
        const ended = kept.maintain(stop.signal);
        await eventually(() => clock.pendingTimers > 0);
        const runId = await handedOver();
        await fixture.spend(runId, 70_001);
        await wakes(store, locations[0], () => clock.advance(1250));
        stop.abort();
        await ended;
        expect(idsOf(await fixture.claim(agents[0]))).toEqual([runId]);
      });
    });
  });

  it('logs once that expired runs could not be removed, and backs off', async () => {
    const clock = new FakeClock();
    const logs = captureLog();
    const store = await openTestStore(kind);
    await store.close();
    const stop = new AbortController();
    const { maintain: keep } = createCheckRuns({ ...OTHER, store, clock, log: logs.log });
    const ended = keep(stop.signal);
    const delaysMs: number[] = [];
    for (let pass = 0; pass < 8; pass += 1) {
      await eventually(() => clock.pendingTimers > 0);
      delaysMs.push(clock.nextTimerInMs ?? 0);
      await clock.advance(delaysMs.at(-1) ?? 0);
    }
    stop.abort();
    await ended;
    expect(logs.records().map(({ level }) => level)).toEqual(['warn']);
    expect(delaysMs[0]).toBeLessThanOrEqual(2000);
    expect(delaysMs.at(-1)).toBeGreaterThanOrEqual(15_000);
    expect(Math.max(...delaysMs)).toBeLessThanOrEqual(30_000);
  });
});
