import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Allowance } from '../accounts/allowance.ts';
import { type CheckRuns, createCheckRuns } from '../check-runs/check-runs.ts';
import { type Checks, createChecks } from '../checks/checks.ts';
import type { CheckVariables } from '../checks/variables/check-variables.ts';
import { dryRunOf } from '../database/dry-run.ts';
import type { Store } from '../database/store.ts';
import type { HeartbeatState } from '../heartbeats/heartbeat-state-machine.ts';
import { createHeartbeats, type Heartbeats } from '../heartbeats/heartbeats.ts';
import { PingThrottle } from '../heartbeats/pings/ping-throttle.ts';
import type { OutdatedStates } from '../results/statuses/outdated-states.ts';
import { type BulkChecks, createBulkChecks } from './bulk-checks.ts';

export interface BulkFeatureParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly allowance: Allowance;
  readonly checkVariables: CheckVariables;
  readonly outdatedStates: Pick<OutdatedStates, 'refresh'>;
  readonly checks: Checks;
  readonly heartbeats: Heartbeats;
  readonly checkRuns: CheckRuns;
}

export function createBulkFeature(parts: BulkFeatureParts): BulkChecks {
  const { clock, checks, heartbeats, checkRuns } = parts;
  const dry = {
    ...parts,
    store: dryRunOf(parts.store),
    // A dry run receives no pings.
    throttle: new PingThrottle<HeartbeatState | null>(clock),
  };
  return createBulkChecks({
    clock,
    checks,
    heartbeats,
    checkRuns,
    dryRun: {
      checks: createChecks(dry),
      heartbeats: createHeartbeats(dry),
      checkRuns: createCheckRuns(dry),
    },
  });
}
