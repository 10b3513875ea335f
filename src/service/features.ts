import { setMaxListeners } from 'node:events';
import type { Plans } from '../model/plan.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { SecretBox } from '../runtime/secret-box.ts';
import { type ArtifactLimits, DEFAULT_ARTIFACT_LIMITS } from './artifacts/artifacts-config.ts';
import type { ArtifactStore } from './artifacts/port.ts';
import type { ServiceConfig } from './config.ts';
import type { FeatureCounts } from './feature-counts.ts';
import { type Accounts, createAccounts } from './features/accounts.ts';
import { type AgentErrors, createAgentErrors } from './features/agent-errors.ts';
import { type Agents, createAgents } from './features/agents.ts';
import { type AlertFeatures, createAlertFeatures } from './features/alerts/create.ts';
import type { DeliveryConfig } from './features/alerts/delivery/delivery-config.ts';
import { type Analytics, createAnalytics } from './features/analytics/analytics.ts';
import { keepRunMetrics } from './features/analytics/follow-finals.ts';
import { type ApiKeys, createApiKeys } from './features/api-keys.ts';
import { type Artifacts, createArtifacts } from './features/artifacts.ts';
import { DEFAULT_AGENT_LIMITS } from './features/assignment/agent-limits.ts';
import { createAssigner } from './features/assignment/assigner.ts';
import type { LocationWake } from './features/assignment/location-wake.ts';
import { type CheckGroups, createCheckGroups } from './features/check-groups.ts';
import { type CheckRuns, createCheckRuns } from './features/check-runs.ts';
import { createCheckVariables } from './features/check-variables.ts';
import { type Checks, createChecks } from './features/checks.ts';
import {
  type ClientCertificates,
  createClientCertificates,
} from './features/client-certificates.ts';
import { createAllowance } from './features/entitlements/allowance.ts';
import { createErrorGroups, type ErrorGroups } from './features/error-groups/error-groups.ts';
import { createHeartbeatFeatures, type HeartbeatFeatures } from './features/heartbeats/create.ts';
import { createLocationKeys, type LocationKeys } from './features/location-keys.ts';
import {
  createMaintenanceWindows,
  type MaintenanceWindows,
} from './features/maintenance-windows.ts';
import { createPrivateLocations, type PrivateLocations } from './features/private-locations.ts';
import { createProxyPasswords } from './features/proxy-passwords.ts';
import { createAgentClocks } from './features/results/agent-clocks.ts';
import { type CheckResults, createCheckResults } from './features/results/check-results.ts';
import { type CheckStatuses, createCheckStatuses } from './features/results/check-statuses.ts';
import { createResultIntake, type ResultIntake } from './features/results/intake.ts';
import { createMissedSlots, type MissedSlots } from './features/results/missed-slots.ts';
import { ResultStorage } from './features/results/result-storage.ts';
import { createConfiguredAnalyses } from './features/root-cause/configured.ts';
import type { RootCauseAnalyses } from './features/root-cause/root-cause-analyses.ts';
import { createSecretScrubbing } from './features/secret-scrubbing.ts';
import { createSnippets, type Snippets } from './features/snippets.ts';
import {
  createStatusPageFeatures,
  type StatusPageFeatures,
} from './features/status-pages/create.ts';
import { createTestSessions, type TestSessions } from './features/test-sessions/test-sessions.ts';
import { createVariables, type Variables } from './features/variables.ts';
import { sealedVariablesOf } from './store/checks.ts';
import { createResultPartitions } from './store/partitions.ts';
import type { Store } from './store/port.ts';
import { keepVacuumed } from './store/vacuum.ts';

/** What the service does, without HTTP. */
export interface Features extends AlertFeatures, HeartbeatFeatures, StatusPageFeatures {
  readonly accounts: Accounts;
  readonly agentErrors: AgentErrors;
  readonly agents: Agents;
  readonly analytics: Analytics;
  readonly apiKeys: ApiKeys;
  readonly artifacts: Artifacts;
  readonly checkGroups: CheckGroups;
  readonly checkResults: CheckResults;
  readonly checkRuns: CheckRuns;
  readonly checkStatuses: CheckStatuses;
  readonly checks: Checks;
  readonly clientCertificates: ClientCertificates;
  readonly errorGroups: ErrorGroups;
  readonly locationKeys: LocationKeys;
  readonly maintenanceWindows: MaintenanceWindows;
  readonly missedSlots: MissedSlots;
  readonly plans: Plans;
  readonly privateLocations: PrivateLocations;
  /** Where jobs reach the service; null for where the caller has. */
  readonly publicUrl: string | null;
  readonly resultIntake: ResultIntake;
  readonly resultStorage: Pick<ResultStorage, 'takes'>;
  readonly rootCauseAnalyses: RootCauseAnalyses;
  readonly snippets: Snippets;
  readonly staticIpv6s: readonly string[];
  readonly testSessions: TestSessions;
  readonly variables: Variables;
  /** For the metrics. */
  counts(): FeatureCounts;
  /** Does what nobody asks for, until the signal aborts: assigns, expires, cleans up. Never rejects. */
  work(signal: AbortSignal): Promise<void>;
}

export interface FeatureParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly wake: LocationWake;
  /** Of artifacts. */
  readonly contents: ArtifactStore;
  readonly plans: Plans;
  /** What encrypts secrets that are stored; null where there is no key. */
  readonly secrets: SecretBox | null;
  /** Whether the credentials of checks and proxies are encrypted now. Left out: where there is a key. */
  readonly sealsCredentials?: () => boolean;
  readonly config: Pick<ServiceConfig, 'leaseMs' | 'retentionDays' | 'staticIpv6s'> & {
    readonly agentLimits?: ServiceConfig['agentLimits'];
    readonly publicUrl?: string | null;
    /** Left out, the defaults hold. */
    readonly artifacts?: { readonly limits: ArtifactLimits };
    /** Left out, only webhooks and Slack channels are served. */
    readonly delivery?: DeliveryConfig;
    /** Left out, the rules alone make root cause analyses. */
    readonly rootCause?: ServiceConfig['rootCause'];
  };
}

export function createFeatures(given: FeatureParts): Features {
  const { store, log } = given;
  const parts = { ...given, allowance: createAllowance(given.plans) };
  const { leaseMs, agentLimits = DEFAULT_AGENT_LIMITS, retentionDays } = parts.config;
  const partitions = createResultPartitions({ ...parts, retentionDays });
  const variables = createVariables(parts);
  const checkVariables = createCheckVariables(parts);
  const proxyPasswords = createProxyPasswords(parts);
  const scrubbing = createSecretScrubbing({ ...parts, variables, checkVariables });
  const checkRuns = createCheckRuns({ ...parts, checkVariables, retentionDays });
  const artifacts = createArtifacts({
    ...parts,
    retentionDays,
    limits: parts.config.artifacts?.limits ?? DEFAULT_ARTIFACT_LIMITS,
  });
  const missedSlots = createMissedSlots({ ...parts, retentionDays });
  const assigner = createAssigner({ ...parts, agentLimits });
  const agentClocks = createAgentClocks(parts);
  const clientCertificates = createClientCertificates(parts);
  const maintenanceWindows = createMaintenanceWindows(parts);
  const statusPageFeatures = createStatusPageFeatures({ ...parts, retentionDays });
  const alertFeatures = createAlertFeatures({
    ...parts,
    ...statusPageFeatures,
    retentionDays,
    delivery: parts.config.delivery,
  });
  const { alertEngine } = alertFeatures;
  const rootCauseAnalyses = createConfiguredAnalyses({
    ...parts,
    retentionDays,
    rootCause: parts.config.rootCause ?? { model: null },
    secretsOf: async (accountId, id) => {
      const sealed = await sealedVariablesOf(store, { accountId, id });
      const own = sealed === null ? [] : checkVariables.secretValues({ accountId, id }, sealed);
      return [...own, ...(await variables.secretValues(store, accountId))];
    },
  });
  const { analysesOf } = rootCauseAnalyses;
  const errorGroups = createErrorGroups({ ...parts, retentionDays, analysesOf });
  const testSessions = createTestSessions({ ...parts, errorGroups, retentionDays, scrubbing });
  const heartbeatFeatures = createHeartbeatFeatures({
    ...parts,
    alerts: alertEngine,
    retentionDays,
  });
  const keepers = [
    (signal: AbortSignal) => assigner.run(signal),
    partitions.keep,
    checkRuns.keep,
    artifacts.keep,
    missedSlots.keep,
    errorGroups.keep,
    rootCauseAnalyses.keep,
    testSessions.keep,
    ...alertFeatures.alertKeepers,
    statusPageFeatures.statusPageIncidents.keep,
    heartbeatFeatures.heartbeatWatch.keep,
    (signal: AbortSignal) => keepVacuumed(parts, signal),
  ];
  const agents = createAgents({
    ...parts,
    checkRuns,
    checkVariables,
    proxyPasswords,
    leaseMs,
    agentLimits,
    settingsOf: async (sql, accountId) => ({
      settings: {
        clientCertificates: await clientCertificates.forAgents(sql, accountId),
        pauses: [...(await maintenanceWindows.pausesForAgents(sql, accountId))],
      },
      variables: await variables.forAgents(sql, accountId),
    }),
    scrubberOf: scrubbing.scrubberOf,
  });
  const resultStorage = new ResultStorage(parts);
  return {
    ...alertFeatures,
    ...heartbeatFeatures,
    ...statusPageFeatures,
    accounts: createAccounts({ store }),
    agentErrors: createAgentErrors({ store }),
    agents,
    analytics: createAnalytics(parts),
    apiKeys: createApiKeys(parts),
    artifacts,
    checkGroups: createCheckGroups(parts),
    checkResults: createCheckResults(parts),
    checkRuns,
    checkStatuses: createCheckStatuses({ store }),
    checks: createChecks({ ...parts, checkVariables }),
    clientCertificates,
    errorGroups,
    locationKeys: createLocationKeys(parts),
    maintenanceWindows,
    missedSlots,
    plans: parts.plans,
    privateLocations: createPrivateLocations({ ...parts, proxyPasswords }),
    publicUrl: parts.config.publicUrl ?? null,
    resultIntake: createResultIntake({
      ...parts,
      partitions,
      checkRuns,
      agentClocks,
      scrubbing,
      storage: resultStorage,
      // The analyses before the groups: they see which groups are new by that.
      followers: [rootCauseAnalyses.follow, errorGroups.follow, keepRunMetrics, alertEngine.follow],
    }),
    resultStorage,
    rootCauseAnalyses,
    snippets: createSnippets(parts),
    staticIpv6s: parts.config.staticIpv6s,
    testSessions,
    variables,
    counts: () => ({
      deferredRecords: agentClocks.deferredRecords,
      artifacts: artifacts.counts(),
      agentRefusals: agents.refusals,
    }),
    async work(signal) {
      // Each of the keepers listens to it: that many are no leak.
      setMaxListeners(0, signal);
      const ends = await Promise.allSettled(keepers.map((keep) => keep(signal)));
      for (const end of ends) {
        if (end.status === 'rejected') log.error({ err: end.reason }, 'a fault of the service');
      }
    },
  };
}
