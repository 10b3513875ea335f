import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach } from 'vitest';
import { UNLIMITED } from '../../../src/model/account/plan.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { NO_SECRETS } from '../../../src/scrub/scrubber.ts';
import { createAllowance, unlimited } from '../../../src/service/accounts/allowance.ts';
import { insertAccount } from '../../../src/service/accounts/sql.ts';
import {
  type AgentLimits,
  DEFAULT_AGENT_LIMITS,
} from '../../../src/service/agents/agent-limits.ts';
import { type Agents, createAgents } from '../../../src/service/agents/agents.ts';
import { type Assigner, createAssigner } from '../../../src/service/agents/assignment/assigner.ts';
import {
  createLocationWake,
  type LocationWake,
} from '../../../src/service/agents/assignment/location-wake.ts';
import {
  type CheckGroups,
  createCheckGroups,
} from '../../../src/service/check-groups/check-groups.ts';
import { type CheckRuns, createCheckRuns } from '../../../src/service/check-runs/check-runs.ts';
import {
  type CheckTrials,
  createCheckTrials,
} from '../../../src/service/check-trials/check-trials.ts';
import { type Checks, createChecks } from '../../../src/service/checks/checks.ts';
import type { CheckVariables } from '../../../src/service/checks/variables/check-variables.ts';
import type { Store } from '../../../src/service/database/store.ts';
import type { AgentCaller } from '../../../src/service/private-locations/location-keys.ts';
import {
  createPrivateLocations,
  type PrivateLocations,
} from '../../../src/service/private-locations/private-locations.ts';
import { silentLog } from '../database/databases.ts';
import { FakeClock } from '../fake-clock.ts';
import { captureLog, type LogCapture } from '../log-capture.ts';
import { PollingAgent, type PollingAgentFields } from './polling-agent.ts';
import {
  NONE_OUTDATED,
  TEST_CHECK_VARIABLES,
  TEST_PROXY_PASSWORDS,
  testScrubbing,
} from './service-features.ts';

/** The location has none. */
export const noSettings = async () => ({
  settings: { clientCertificates: [], pauses: [] },
  variables: [],
  unreadableVariables: [],
});
export const noSecrets = async () => NO_SECRETS;

export const LEASE_MS = 15_000;

export interface FixtureLocation {
  readonly id: string;
  readonly slug: string;
  readonly caller: AgentCaller;
}

/** An account with a private location, and the assigner that gives its checks to polling agents. */
export interface AgentFixture {
  readonly store: Store;
  /** The clock of the polls and of the assigner; leases use the database's clock. */
  readonly clock: FakeClock;
  readonly accountId: string;
  readonly cellar: FixtureLocation;
  readonly checks: Checks;
  readonly groups: CheckGroups;
  readonly locations: PrivateLocations;
  readonly checkRuns: CheckRuns;
  readonly checkTrials: CheckTrials;
  readonly checkVariables: CheckVariables;
  readonly agents: Agents;
  readonly assigner: Assigner;
  readonly wake: LocationWake;
  /** Parts of the agents' feature. */
  readonly logs: LogCapture;
  addLocation(slug: string): Promise<FixtureLocation>;
  /** TCP checks `${prefix}-0` … that run in the cellar unless the fields override it. */
  addChecks(prefix: string, count: number, fields?: object): Promise<readonly string[]>;
  addCheck(id: string, fields?: object): Promise<void>;
  agent(id: string, fields?: PollingAgentFields): PollingAgent;
  /** Waits for the end of the test, woken only by the database's notifications. */
  startAssigner(): void;
  /** Ends its lease, as after a long silence. */
  silence(agentId: string): Promise<void>;
}

/** For a describe block with a migrated, empty store: a new fixture in each test. */
export function useAgentFixture(
  storeOf: () => Store,
  agentLimits: AgentLimits = DEFAULT_AGENT_LIMITS,
): () => AgentFixture {
  let fixture: AgentFixture | null = null;
  let end: () => Promise<void> = async () => {};
  beforeEach(async () => {
    const made = await makeFixture(storeOf(), agentLimits);
    fixture = made.fixture;
    end = made.end;
  });
  afterEach(() => end());
  return () => {
    if (fixture === null) throw new Error('the fixture is for tests: it is made before each');
    return fixture;
  };
}

async function makeFixture(
  store: Store,
  agentLimits: AgentLimits,
): Promise<{ readonly fixture: AgentFixture; readonly end: () => Promise<void> }> {
  const clock = new FakeClock(systemClock.wallMs());
  const log = silentLog();
  const accountId = randomUUID();
  await insertAccount(store, { id: accountId, name: 'mine', createdAtMs: clock.wallMs() });
  const checkVariables = TEST_CHECK_VARIABLES;
  const logs = captureLog();
  const proxyPasswords = TEST_PROXY_PASSWORDS;
  const parts = {
    store,
    clock,
    log,
    ids: randomUUID,
    checkVariables,
    outdatedStates: NONE_OUTDATED,
    proxyPasswords,
    agentLimits,
  };
  const checks = createChecks({ ...parts, allowance: createAllowance(UNLIMITED, true) });
  const locations = createPrivateLocations(parts);
  const checkRuns = createCheckRuns(parts);
  const wake = await createLocationWake(store, clock);
  const checkTrials = createCheckTrials({
    ...parts,
    wake,
    scrubbing: testScrubbing(clock),
    allowance: unlimited,
  });
  const agents = createAgents({
    ...parts,
    log: logs.log,
    wake,
    checkRuns,
    checkTrials,
    leaseMs: LEASE_MS,
    settingsOf: noSettings,
    scrubberOf: noSecrets,
  });
  const assigner = createAssigner(parts);
  const addLocation = async (slug: string): Promise<FixtureLocation> => {
    const { id } = await locations.create(accountId, { slug, name: slug });
    return { id, slug, caller: { accountId, locationId: id, keyId: 'key' } };
  };
  const cellar = await addLocation('cellar');
  const addCheck = async (id: string, fields: object = {}): Promise<void> => {
    const input = {
      checkType: 'TCP',
      name: id,
      privateLocations: ['cellar'],
      request: { hostname: 'host', port: 22 },
      ...fields,
    };
    await checks.put({ accountId, id }, input, { autoAssignAlerts: false });
  };
  const stopping = new AbortController();
  const running: Promise<void>[] = [];
  const fixture: AgentFixture = {
    store,
    clock,
    accountId,
    cellar,
    checks,
    groups: createCheckGroups(parts),
    locations,
    checkRuns,
    checkTrials,
    checkVariables,
    agents,
    assigner,
    wake,
    logs,
    addLocation,
    addCheck,
    async addChecks(prefix, count, fields) {
      const ids = Array.from({ length: count }, (_, n) => `${prefix}-${n}`);
      await addCheck(`${prefix}-0`, fields);
      // The others are copies, and fire the triggers like the first.
      await store.query(
        `insert into checks (account_id, id, check_type, name, activated, muted, frequency, body)
         select account_id, $3 || '-' || n, check_type, $3 || '-' || n, activated, muted, frequency,
           body || jsonb_build_object('name', $3 || '-' || n)
         from checks, generate_series(1, $4::int - 1) n where account_id = $1 and id = $2`,
        [accountId, `${prefix}-0`, prefix, count],
      );
      return ids;
    },
    agent: (id, fields) => new PollingAgent(agents, cellar.caller, id, fields),
    startAssigner: () => void running.push(assigner.run(stopping.signal)),
    async silence(agentId) {
      await store.query(
        `update agents set lease_until = now() - interval '1 millisecond' where id = $1`,
        [agentId],
      );
    },
  };
  return {
    fixture,
    async end() {
      stopping.abort();
      await Promise.all(running);
      await wake.close();
    },
  };
}
