import type { LocationVerdict } from '../../model/alerting/location-verdicts.ts';
import { groupBy } from '../../runtime/group-by.ts';
import type { Sql } from '../database/port.ts';
import { freshMsOf, parallelLocationOf } from './judge.ts';
import { findLatestRuns, type LatestRun } from './latest-runs.sql.ts';
import type { AlertObservation } from './observation.ts';
import type { AlertSubject } from './states.sql.ts';

/**
 * What stored results say of checks that were passing and whose new ones are not: the states of
 * passing checks are not kept up, so that they cost nothing. It tells which of the new ones came
 * late, and how the other locations do.
 *
 * @returns by the checks' ids
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
  const lookAt = asked.some(({ subject }) => subject.locations.length > 1)
    ? LOOK_AT.manyPlaces
    : LOOK_AT.onePlace;
  const runs = await findLatestRuns(tx, { accountId, since, except, lookAt });
  const latest = groupBy(runs, ({ checkId }) => checkId);
  return new Map(
    subjects.map((subject) => {
      const own = latest.get(subject.checkId) ?? [];
      return [subject.checkId, own.map((run) => verdictOf(subject, run))];
    }),
  );
}

/** One is enough where there is one place, were it not for slow ones; else the last of each. */
const LOOK_AT = { onePlace: 20, manyPlaces: 500 } as const;

/** How far back the verdicts of other locations count. */
function reachOf(subject: AlertSubject): number {
  const { runsParallel, locations } = subject;
  return runsParallel && locations.length > 1 ? freshMsOf(subject) : 0;
}

function verdictOf(subject: AlertSubject, run: LatestRun): LocationVerdict {
  const { runLocation: location, slotMs, sequenceId, hasFailures, isDegraded } = run;
  const place = parallelLocationOf(subject, { location, slotMs, sequenceId });
  const condition = hasFailures ? 'failing' : isDegraded ? 'degraded' : 'passing';
  return { place, slotMs, condition };
}
