import { HOUR_MS, MINUTE_MS } from '../time-units.ts';

/**
 * Problems of monitoring itself, which channels are notified of: src/service/README.md, "Problems of
 * monitoring itself". A silent location is one, too, with a switch and notices of its own.
 */
export const MONITORING_PROBLEMS = [
  'AGENT_OUTDATED',
  'AGENT_CLOCK_OFF',
  'SLOTS_MISSED',
  'RESULTS_WAITING',
  'CHANNEL_FAILING',
  'DISK_NEARLY_FULL',
] as const;
export type MonitoringProblem = (typeof MONITORING_PROBLEMS)[number];

/** The type of the notice that a problem has ended. */
export type MonitoringProblemEnd = `${MonitoringProblem}_RECOVERY`;
export const MONITORING_PROBLEM_ENDS: readonly MonitoringProblemEnd[] =
  MONITORING_PROBLEMS.map(endOfProblem);

export function endOfProblem(problem: MonitoringProblem): MonitoringProblemEnd {
  return `${problem}_RECOVERY`;
}

/**
 * A problem begins beyond the first value and ends at the second. A value in between does neither.
 */
export const PROBLEM_LIMITS = {
  /** The difference between the clocks of an agent and the service, in milliseconds: more than. */
  clockMs: { begins: 2_000, ends: 1_000 },
  /** How long the oldest record at an agent has waited, in milliseconds: more than. */
  waitingMs: { begins: 5 * MINUTE_MS, ends: MINUTE_MS },
  /** The share of a location's slots in `missedWindowMs` that were not run: more than, from 0 to 1. */
  missedShare: { begins: 0.1, ends: 0.05 },
  missedWindowMs: 15 * MINUTE_MS,
  /** At least this many slots must be missed, whatever their share. */
  missedSlots: 5,
  /** The free share of the disk, from 0 to 1, and its free bytes: less than both. */
  diskShare: { begins: 0.1, ends: 0.15 },
  diskBytes: { begins: 10 * 2 ** 30, ends: 15 * 2 ** 30 },
} as const;

export interface ProblemRule {
  readonly severity: 'critical' | 'warning';
  /** A problem begins after it has lasted this long without interruption … */
  readonly beginsAfterMs: number;
  /** … and ends after it was not found for this long. */
  readonly endsAfterMs: number;
  /** For the documentation: when it begins, besides `beginsAfterMs`. */
  readonly begins: string;
  /** For the documentation: when it ends, besides `endsAfterMs`. */
  readonly ends: string;
  /** The headline of its notice. */
  readonly headline: (subject: string) => string;
}

const { clockMs, waitingMs, missedShare, missedSlots, missedWindowMs } = PROBLEM_LIMITS;
const { diskShare, diskBytes } = PROBLEM_LIMITS;

export const PROBLEM_RULES: Readonly<Record<MonitoringProblem, ProblemRule>> = {
  AGENT_OUTDATED: {
    severity: 'warning',
    beginsAfterMs: HOUR_MS,
    endsAfterMs: MINUTE_MS,
    begins:
      'An agent of the location has an older version than the service: a lower major or minor number. Patch releases and pre-releases of the same number do not count.',
    ends: 'No agent that polls has an older version.',
    headline: (subject) => `${subject} has agents of an older version than the service`,
  },
  AGENT_CLOCK_OFF: {
    severity: 'warning',
    beginsAfterMs: MINUTE_MS,
    endsAfterMs: MINUTE_MS,
    begins: `The clock of an agent of the location differs from the service's by more than ${clockMs.begins / 1000} s.`,
    ends: `No clock there differs by more than ${clockMs.ends / 1000} s.`,
    headline: (subject) => `${subject} has an agent whose clock is off`,
  },
  SLOTS_MISSED: {
    severity: 'critical',
    // `missedWindowMs` already spans several minutes.
    beginsAfterMs: 0,
    endsAfterMs: MINUTE_MS,
    begins: `More than ${percent(missedShare.begins)} of the slots of the location within ${missedWindowMs / MINUTE_MS} minutes, and at least ${missedSlots}, were not run. Slots of a silent location (\`location_silent\`) and those whose check was still running (\`previous_run_active\`) do not count.`,
    ends: `At most ${percent(missedShare.ends)} of them were not run.`,
    headline: (subject) => `${subject} misses slots`,
  },
  RESULTS_WAITING: {
    severity: 'warning',
    beginsAfterMs: 2 * MINUTE_MS,
    endsAfterMs: MINUTE_MS,
    begins: `A record in the spool of an agent of the location has waited for the service for more than ${waitingMs.begins / MINUTE_MS} minutes.`,
    ends: `None has waited for more than ${waitingMs.ends / 1000} s.`,
    headline: (subject) => `${subject} has results that wait at its agents`,
  },
  CHANNEL_FAILING: {
    severity: 'critical',
    beginsAfterMs: MINUTE_MS,
    endsAfterMs: 0,
    begins: 'The latest notification to the channel has failed after all of its retries.',
    ends: 'A notification was delivered since then, for example the same one when it was sent again.',
    headline: (subject) => `${subject} does not take notifications`,
  },
  DISK_NEARLY_FULL: {
    severity: 'critical',
    beginsAfterMs: MINUTE_MS,
    endsAfterMs: MINUTE_MS,
    begins: `Less than ${percent(diskShare.begins)} and less than ${gib(diskBytes.begins)} of the disk of the embedded database (DATA_DIR) are free.`,
    ends: `At least ${percent(diskShare.ends)} or ${gib(diskBytes.ends)} are free.`,
    headline: (subject) => `${subject} is nearly full`,
  },
};

/** MAJOR.MINOR of Semantic Versioning 2.0.0; what follows does not count. */
const RELEASE = /^v?(\d+)\.(\d+)\./;

/** Whether a release precedes another in its major or minor number. False if either is not a release. */
export function isOutdated(version: string, than: string): boolean {
  const [own, other] = [RELEASE.exec(version), RELEASE.exec(than)];
  if (own === null || other === null) return false;
  const [major, minor] = [Number(own[1]) - Number(other[1]), Number(own[2]) - Number(other[2])];
  return major < 0 || (major === 0 && minor < 0);
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function gib(bytes: number): string {
  return `${bytes / 2 ** 30} GiB`;
}
