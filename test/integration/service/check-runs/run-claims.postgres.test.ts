import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { insertAccount } from '../../../../src/service/accounts/sql.ts';
import type { OneOffMessage } from '../../../../src/wire/v1/assignment.ts';
import { databases } from '../../../support/database/databases.ts';
import {
  idsOf,
  RunsFixture,
  type TestAgent,
  type TestLocation,
  useRunsService,
} from '../../../support/service/check-runs-fixture.ts';
import type { RunningService } from '../../../support/service/service-fixture.ts';

const CHECKS = ['c0', 'c1', 'c2'];
const AGENTS = ['a0', 'a1', 'a2', 'a3'];

const agentNumber = fc.nat({ max: AGENTS.length - 1 });
const someNumber = fc.nat({ max: 1000 });

/** The next step. Polls of a step are concurrent. A poll without a lease begins one. */
const STEP = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('poll' as const),
      agents: fc.uniqueArray(agentNumber, { minLength: 2 }),
      inTransaction: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('request' as const),
      checks: fc.array(fc.constantFrom(...CHECKS), { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('end' as const), agent: agentNumber }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('close' as const), run: someNumber }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('final' as const), run: someNumber }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('assign' as const),
      check: fc.constantFrom(...CHECKS),
      agent: agentNumber,
    }),
  },
);
type Step = typeof STEP extends fc.Arbitrary<infer Each> ? Each : never;

interface ModelRun {
  readonly id: string;
  readonly checkId: string;
  readonly sequenceId: string;
  readonly slotMs: number;
  holder: TestAgent | null;
  isOver: boolean;
}

/** The expected holders of runs, to compare with those in the database. */
class Model {
  readonly #fixture: RunsFixture;
  readonly #service: RunningService;
  readonly #location: TestLocation;
  readonly #live = new Map<string, TestAgent>();
  readonly #assigned = new Map<string, TestAgent>();
  readonly #runs = new Map<string, ModelRun>();

  constructor(service: RunningService, fixture: RunsFixture, location: TestLocation) {
    this.#service = service;
    this.#fixture = fixture;
    this.#location = location;
  }

  async take(step: Step): Promise<void> {
    switch (step.kind) {
      case 'poll': {
        const polled = await Promise.all(
          step.agents.map((number) => this.#poll(AGENTS[number] ?? '', step.inTransaction)),
        );
        this.#judge(polled);
        return this.#judgeAll();
      }
      case 'request': {
        const made = await Promise.all(step.checks.map((check) => this.#fixture.request(check)));
        for (const { id, checkId, sequenceId, slot } of made) {
          const run = { id, checkId, sequenceId, slotMs: slot.getTime() };
          this.#runs.set(id, { ...run, holder: null, isOver: false });
        }
        return;
      }
      case 'end': {
        const agent = this.#live.get(AGENTS[step.agent] ?? '');
        if (agent === undefined) return;
        await this.#fixture.endLease(agent);
        this.#live.delete(agent.agentId);
        return;
      }
      case 'close': {
        const held = [...this.#runs.values()].filter((run) => !run.isOver && this.#isHeld(run));
        const run = held[step.run % held.length];
        if (run?.holder === null || run === undefined) return;
        await this.#fixture.close(run.holder, run.id);
        run.isOver = true;
        return;
      }
      case 'final': {
        const run = [...this.#runs.values()].filter(({ isOver }) => !isOver)[step.run % 3];
        if (run === undefined) return;
        await this.#fixture.final({ ...run, slot: run.slotMs });
        run.isOver = true;
        return;
      }
      case 'assign': {
        const agent = this.#live.get(AGENTS[step.agent] ?? '');
        if (agent === undefined) return;
        await this.#fixture.assign(step.check, agent);
        this.#assigned.set(step.check, agent);
      }
    }
  }

  async #poll(agentId: string, inTransaction: boolean) {
    const { store, features } = this.#service;
    const { checkRuns } = features;
    const agent = this.#live.get(agentId) ?? (await this.#fixture.join(this.#location, agentId));
    const told = inTransaction
      ? await store.transaction((tx) => checkRuns.claim(tx, agent))
      : await checkRuns.claim(store, agent);
    return { agent, told };
  }

  /** Judges the runs that the agents were sent by concurrent polls. */
  #judge(
    polled: readonly { readonly agent: TestAgent; readonly told: readonly OneOffMessage[] }[],
  ): void {
    for (const { agent } of polled) this.#live.set(agent.agentId, agent);
    for (const { agent, told } of polled) {
      for (const { runId, checkId, sequenceId, slot } of told) {
        const run = this.#runs.get(runId);
        expect({ checkId, sequenceId, slotMs: slot, isOver: false }).toEqual({
          checkId: run?.checkId,
          sequenceId: run?.sequenceId,
          slotMs: run?.slotMs,
          isOver: run?.isOver,
        });
        if (run === undefined) continue;
        if (this.#isHeld(run)) expect(run.holder).toEqual(agent);
        else expect(this.#ownerOf(run) ?? agent).toEqual(agent);
        run.holder = agent;
      }
    }
  }

  /** Once every live agent has polled, each run is held by one of them that it is for. */
  async #judgeAll(): Promise<void> {
    for (const agentId of [...this.#live.keys()]) {
      const { agent, told } = await this.#poll(agentId, true);
      this.#judge([{ agent, told }]);
      const held = [...this.#runs.values()].filter(
        (run) => !run.isOver && run.holder !== null && sameLease(run.holder, agent),
      );
      expect(new Set(idsOf(told))).toEqual(new Set(held.map(({ id }) => id)));
    }
    const open = [...this.#runs.values()].filter(({ isOver }) => !isOver);
    expect(open.filter((run) => !this.#isHeld(run))).toEqual([]);
  }

  #isHeld({ holder }: ModelRun): boolean {
    return holder !== null && this.#isLive(holder);
  }

  #isLive(agent: TestAgent): boolean {
    return this.#live.get(agent.agentId)?.epoch === agent.epoch;
  }

  /** The live agent that has the check; null if there is none. */
  #ownerOf({ checkId }: ModelRun): TestAgent | null {
    const agent = this.#assigned.get(checkId);
    return agent !== undefined && this.#isLive(agent) ? agent : null;
  }
}

function sameLease(one: TestAgent, other: TestAgent): boolean {
  return one.agentId === other.agentId && one.epoch === other.epoch;
}

/** In any history a run is held by at most one live agent, and is never lost. */
describe.each(databases)('on %s', (kind) => {
  describe('claims of runs', () => {
    const running = useRunsService(kind);

    it('never assign a run to two live agents, and assign it again when a lease has ended', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(STEP, { minLength: 5, maxLength: 25 }), async (steps) => {
          const service = running();
          const accountId = randomUUID();
          await insertAccount(service.store, { id: accountId, name: 'any', createdAtMs: 0 });
          const fixture = new RunsFixture(service, accountId);
          const location = await fixture.location('cellar');
          for (const check of CHECKS) await fixture.check(check, [location]);
          const model = new Model(service, fixture, location);
          await model.take({ kind: 'request', checks: CHECKS });
          for (const step of steps) await model.take(step);
          await model.take({ kind: 'poll', agents: [0, 1, 2, 3], inTransaction: false });
        }),
        // The rest of the test's time is for shrinking a failure.
        { numRuns: kind === 'postgres' ? 15 : 8, interruptAfterTimeLimit: 15_000 },
      );
    });
  });
});
