import type { LocationVerdict } from '../../model/alerting/location-verdicts.ts';
import { groupBy } from '../../runtime/group-by.ts';
import type { Sql } from '../database/store.ts';
import { freshnessMs, parallelLocationOf } from './check-rules.ts';
import { findLatestRuns, type LatestRun } from './latest-runs.sql.ts';
import type { AlertObservation } from './observation.ts';
import type { AlertSubject } from './states.sql.ts';

/**
 * The verdicts of stored results, for checks that were passing and have new runs that do not pass: the state of a
 * passing check is not updated, to save writes. They show which of the new runs are late, and the verdicts of other
 * locations.
 *
 * @returns by the id of the check
 */
export async function earlierVerdicts(
  tx: Sql,
  {
    accountId,
    subjects,
    runsOf,
  }: {
    readonly accountId: string;
    readonly subjects: readonly AlertSubject[];
    readonly runsOf: ReadonlyMap<string, readonly AlertObservation[]>;
  },
): Promise<ReadonlyMap<string, readonly LocationVerdict[]>> {
  const asked = subjects.flatMap((subject) => {
    const { checkId, record, isActive } = subject;
    if (!isActive || (record !== null && record.state.condition !== 'passing')) return [];
    const slots = (runsOf.get(checkId) ?? [])
      .filter(({ condition, result }) => condition !== 'passing' && result !== undefined)
      .map(({ slotMs }) => slotMs);
    return slots.length === 0 ? [] : [{ subject, firstMs: Math.min(...slots) }];
  });
  const since = asked.map(({ subject, firstMs }) => {
    return { checkId: subject.checkId, slotMs: firstMs - reachOf(subject) };
  });
  const except = [...runsOf.values()].flat().flatMap(({ result }) => result?.id ?? []);
  const scanned = asked.some(({ subject }) => subject.locations.length > 1)
    ? SCANNED.manyLocations
    : SCANNED.oneLocation;
  const runs = await findLatestRuns(tx, { accountId, since, except, scanned });
  const latest = groupBy(runs, ({ checkId }) => checkId);
  return new Map(
    subjects.map((subject) => {
      const own = latest.get(subject.checkId) ?? [];
      return [subject.checkId, own.map((run) => verdictOf(subject, run))];
    }),
  );
}

/** Runs of each check: enough to contain the last of each location, even if some arrive late. */
const SCANNED = { oneLocation: 20, manyLocations: 500 } as const;

/** How far back the verdicts of other locations count. */
function reachOf(subject: AlertSubject): number {
  const { runsParallel, locations } = subject;
  return runsParallel && locations.length > 1 ? freshnessMs(subject) : 0;
}

function verdictOf(subject: AlertSubject, run: LatestRun): LocationVerdict {
  const { runLocation: location, slotMs, sequenceId, hasFailures, isDegraded } = run;
  const slotLocation = parallelLocationOf(subject, { location, slotMs, sequenceId });
  const condition = hasFailures ? 'failing' : isDegraded ? 'degraded' : 'passing';
  return { location: slotLocation, slotMs, condition };
}
