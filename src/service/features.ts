import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { ArtifactStore } from './artifacts/port.ts';
import type { ServiceConfig } from './config.ts';
import { type AgentErrors, createAgentErrors } from './features/agent-errors.ts';
import { type Agents, createAgents } from './features/agents.ts';
import { type ApiKeys, createApiKeys } from './features/api-keys.ts';
import { type Artifacts, createArtifacts } from './features/artifacts.ts';
import { createAssigner } from './features/assignment/assigner.ts';
import type { LocationWake } from './features/assignment/location-wake.ts';
import { type CheckGroups, createCheckGroups } from './features/check-groups.ts';
import { type CheckRuns, createCheckRuns } from './features/check-runs.ts';
import { type Checks, createChecks } from './features/checks.ts';
import { createLocationKeys, type LocationKeys } from './features/location-keys.ts';
import { createPrivateLocations, type PrivateLocations } from './features/private-locations.ts';
import { type CheckResults, createCheckResults } from './features/results/check-results.ts';
import { type CheckStatuses, createCheckStatuses } from './features/results/check-statuses.ts';
import { createResultIntake, type ResultIntake } from './features/results/intake.ts';
import { createMissedSlots, type MissedSlots } from './features/results/missed-slots.ts';
import { createResultPartitions } from './store/partitions.ts';
import type { Store } from './store/port.ts';
import { keepVacuumed } from './store/vacuum.ts';

/** What the service does, without HTTP. */
export interface Features {
  readonly agentErrors: AgentErrors;
  readonly agents: Agents;
  readonly apiKeys: ApiKeys;
  readonly artifacts: Artifacts;
  readonly checkGroups: CheckGroups;
  readonly checkResults: CheckResults;
  readonly checkRuns: CheckRuns;
  readonly checkStatuses: CheckStatuses;
  readonly checks: Checks;
  readonly locationKeys: LocationKeys;
  readonly missedSlots: MissedSlots;
  readonly privateLocations: PrivateLocations;
  readonly resultIntake: ResultIntake;
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
  readonly config: Pick<ServiceConfig, 'leaseMs' | 'retentionDays'>;
}

export function createFeatures(parts: FeatureParts): Features {
  const { store, log } = parts;
  const { leaseMs, retentionDays } = parts.config;
  const partitions = createResultPartitions({ ...parts, retentionDays });
  const checkRuns = createCheckRuns(parts);
  const artifacts = createArtifacts({ ...parts, retentionDays });
  const missedSlots = createMissedSlots({ ...parts, retentionDays });
  const assigner = createAssigner(parts);
  const keepers = [
    (signal: AbortSignal) => assigner.run(signal),
    partitions.keep,
    checkRuns.keep,
    artifacts.keep,
    missedSlots.keep,
    (signal: AbortSignal) => keepVacuumed(parts, signal),
  ];
  return {
    agentErrors: createAgentErrors({ store }),
    agents: createAgents({
      ...parts,
      checkRuns,
      leaseMs,
      settingsOf: async () => ({ clientCertificates: [], pauses: [] }),
    }),
    apiKeys: createApiKeys(parts),
    artifacts,
    checkGroups: createCheckGroups(parts),
    checkResults: createCheckResults(parts),
    checkRuns,
    checkStatuses: createCheckStatuses({ store }),
    checks: createChecks(parts),
    locationKeys: createLocationKeys(parts),
    missedSlots,
    privateLocations: createPrivateLocations(parts),
    resultIntake: createResultIntake({ ...parts, partitions, checkRuns }),
    async work(signal) {
      const ends = await Promise.allSettled(keepers.map((keep) => keep(signal)));
      for (const end of ends) {
        if (end.status === 'rejected') log.error({ err: end.reason }, 'a fault of the service');
      }
    },
  };
}
