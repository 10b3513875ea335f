import { randomUUID } from 'node:crypto';
import { beforeAll } from 'vitest';
import { CHECK_FEATURE_NAMES } from '../../../src/model/check/check-features.ts';
import { sequenceIdOf } from '../../../src/model/ids.ts';
import type { Store } from '../../../src/service/database/store.ts';
import type { OneOffMessage } from '../../../src/wire/v1/assignment.ts';
import { giveEverySlot } from '../agent/assigned-slots.ts';
import type { DatabaseKind } from '../database/databases.ts';
import type { Reply } from './service-app.ts';
import { type RunningService, useRunningService } from './service-fixture.ts';

/** For a describe block: a service that can store results of the days of its fake clock. */
export function useRunsService(kind: DatabaseKind): () => RunningService {
  const running = useRunningService(kind);
  beforeAll(async () => {
    await running().store.query("select make_result_partitions('2025-12-31', '2026-01-02')");
  });
  return running;
}

export const CAPABILITIES = {
  types: ['URL', 'API', 'TCP', 'DNS', 'ICMP'],
  ipv6: false,
  icmp: true,
  capture: false,
  features: [...CHECK_FEATURE_NAMES],
};
const LEASE_MS = 60_000;

/** A private location and its key. */
export interface TestLocation {
  readonly id: string;
  readonly slug: string;
  readonly key: string;
}

/** An agent that believes that it has its lease. */
export interface TestAgent {
  readonly accountId: string;
  readonly locationId: string;
  readonly agentId: string;
  readonly epoch: number;
}

/** Test actions on one account's locations, agents and checks. */
export class RunsFixture {
  readonly #service: RunningService;
  readonly accountId: string;

  constructor(service: RunningService, accountId: string) {
    this.#service = service;
    this.accountId = accountId;
  }

  get #store(): Store {
    return this.#service.store;
  }

  async location(slug: string): Promise<TestLocation> {
    const { privateLocations, locationKeys } = this.#service.features;
    const { id } = await privateLocations.create(this.accountId, { slug, name: slug });
    const { key } = await locationKeys.create(this.accountId, id);
    return { id, slug, key };
  }

  /** The locations get every slot of it, because the database's clock is not that of the slots. */
  async check(
    id: string,
    locations: readonly TestLocation[],
    fields: Readonly<Record<string, unknown>> = {},
  ): Promise<string> {
    await this.#service.features.checks.put(
      { accountId: this.accountId, id },
      {
        checkType: 'TCP',
        request: { hostname: 'host.test', port: 22 },
        privateLocations: locations.map(({ slug }) => slug),
        // A check needs a public location in an account whose locations have no agents.
        locations: ['eu-west-1'],
        ...fields,
      },
      { autoAssignAlerts: true },
    );
    const slugs = locations.map(({ slug }) => slug);
    await giveEverySlot(this.#store, { accountId: this.accountId, checkId: id, slugs });
    return id;
  }

  /** The agent's first poll: its lease begins or is renewed. */
  async join(
    location: TestLocation,
    agentId: string,
    capabilities: Readonly<Record<string, unknown>> = CAPABILITIES,
  ): Promise<TestAgent> {
    const { accountId } = this;
    const [row] = await this.#store.query<{ epoch: number }>(
      `insert into agents (account_id, location_id, id, version, instance_id, capabilities,
         concurrency, epoch, lease_until)
       values ($1, $2, $3, '0', $4, $5::jsonb, 10, 1, now() + $6 * interval '1 millisecond')
       on conflict (location_id, id) do update set epoch = agents.epoch + 1,
         lease_until = excluded.lease_until, capabilities = excluded.capabilities
       returning epoch`,
      [accountId, location.id, agentId, randomUUID(), capabilities, LEASE_MS],
    );
    return { accountId, locationId: location.id, agentId, epoch: row?.epoch ?? 0 };
  }

  async endLease({ locationId, agentId }: TestAgent): Promise<void> {
    await this.#store.query(
      `update agents set lease_until = now() - interval '1 millisecond'
       where location_id = $1 and id = $2`,
      [locationId, agentId],
    );
  }

  async assign(checkId: string, { accountId, locationId, agentId, epoch }: TestAgent) {
    await this.#store.query(
      `insert into assignments (location_id, check_id, account_id, agent_id, agent_epoch, period_ms,
         phase_ms, stride, stride_index, check_revision, revision)
       values ($1, $2, $3, $4, $5, 60000, 0, 1, 0, 1, 1)
       on conflict (location_id, check_id) do update
         set agent_id = excluded.agent_id, agent_epoch = excluded.agent_epoch`,
      [locationId, checkId, accountId, agentId, epoch],
    );
  }

  request(checkId: string, location: TestLocation | null = null) {
    return this.#service.features.checkRuns.request(this.accountId, checkId, {
      location: location?.slug ?? null,
    });
  }

  claim(agent: TestAgent): Promise<readonly OneOffMessage[]> {
    return this.#store.transaction((tx) => this.#service.features.checkRuns.claim(tx, agent));
  }

  close(agent: TestAgent, ...runIds: readonly string[]): Promise<void> {
    return this.#store.transaction((tx) =>
      this.#service.features.checkRuns.close(tx, agent, runIds),
    );
  }

  /** A result, stored as from an agent. */
  async final(
    run: {
      readonly checkId: string;
      readonly sequenceId: string;
      readonly slot: Date | number;
    },
    verdict: 'passed' | 'degraded' | 'failed' = 'passed',
  ): Promise<string> {
    const id = randomUUID();
    const { checkId, sequenceId } = run;
    await this.#store.transaction(async (tx) => {
      await tx.query(
        `insert into check_results (check_id, account_id, id, sequence_id, result_type, slot,
           created_at, has_failures, has_errors, is_degraded, run_location, check_type, body)
         values ($1, $2, $3, $4, 'FINAL', $5::timestamptz, now(), $6 = 'failed', false,
           $6 = 'degraded', 'a', 'TCP', '{}')`,
        [checkId, this.accountId, id, sequenceId, new Date(run.slot), verdict],
      );
      await this.#service.features.checkRuns.finished(tx, this.accountId, [
        { checkId, sequenceId },
      ]);
    });
    return id;
  }

  /**
   * The database's own clock decides, so the test moves instants back instead of the clock forward.
   */
  async spend(runId: string, durationMs: number): Promise<void> {
    await this.#store.query(
      `update one_off_runs set not_after = not_after - $2::float8 * interval '1 millisecond',
         closed_at = closed_at - $2::float8 * interval '1 millisecond',
         created_at = created_at - $2::float8 * interval '1 millisecond'
       where id = $1`,
      [runId, durationMs],
    );
  }

  /** An agent's request after a failed attempt of one of its slots. */
  offer(
    location: TestLocation,
    agent: TestAgent,
    checkId: string,
    changes: Readonly<Record<string, unknown>> = {},
  ): Promise<Reply> {
    const slot = this.#service.clock.wallMs();
    return this.#service.app.ask('/agent/v1/handovers', {
      key: location.key,
      method: 'POST',
      headers: { 'x-agent-protocol': '1' },
      body: {
        agentId: agent.agentId,
        epoch: agent.epoch,
        checkId,
        slot,
        sequenceId: sequenceIdOf(checkId, location.slug, slot),
        retriesMade: 1,
        firstStartedAt: slot + 5,
        notBefore: Date.now() + 10_000,
        ...changes,
      },
    });
  }

  get missed(): Promise<readonly unknown[]> {
    return this.#store.query(
      `select check_id, location, slot, last_slot, count, reason from missed_slots
       where account_id = $1 order by slot`,
      [this.accountId],
    );
  }
}

/** Runs `work`, and resolves when it has woken the polls of the location. */
export async function wakes(
  store: Store,
  location: TestLocation,
  work: () => Promise<unknown>,
): Promise<void> {
  let hear = (): void => {};
  const woken = new Promise<void>((resolve) => {
    hear = resolve;
  });
  const end = await store.listen('vedette_assignments', (id) => {
    if (id === location.id) hear();
  });
  await work();
  await woken;
  await end();
}

export function idsOf(messages: readonly { readonly runId: string }[]): readonly string[] {
  return messages.map(({ runId }) => runId);
}
