import { DAY_MS } from '../../../model/time-units.ts';
import type { Sql } from '../../database/store.ts';
import { readDowntime } from '../../heartbeats/shared.sql.ts';
import { countDaysByLocation } from './availability.sql.ts';
import { HeartbeatTimes } from './heartbeat-minutes.ts';
import { planSegments, startOf } from './plan-segments.ts';
import { readRollUpState } from './rolled-up-runs.sql.ts';

export interface LocationRuns {
  readonly location: string;
  readonly runs: number;
  readonly failures: number;
}

/** Keyed by check, then by the start of the day. */
export type RunsByLocation = ReadonlyMap<string, ReadonlyMap<number, readonly LocationRuns[]>>;

/** From a whole hour to a whole hour: roll-ups of hours are kept as long as those of days. */
export interface CheckSpan {
  readonly checkId: string;
  /** Epoch milliseconds; `toMs` is exclusive. */
  readonly fromMs: number;
  readonly toMs: number;
}

export interface SpansQuery {
  readonly accountId: string;
  /** Each within one day. */
  readonly spans: readonly CheckSpan[];
  /** Epoch milliseconds. */
  readonly nowMs: number;
}

const DAY_MINUTES = 1_440;
/** Heartbeats have a single location without a name. */
const NOWHERE = '';

/** The runs within the spans. Has no entries for days without runs. */
export async function readRunsByLocation(
  sql: Sql,
  { accountId, spans, nowMs }: SpansQuery,
): Promise<RunsByLocation> {
  if (spans.length === 0) return new Map();
  const checkIds = [...new Set(spans.map(({ checkId }) => checkId))];
  const fromMs = spans.reduce((least, span) => Math.min(least, span.fromMs), nowMs);
  const toMs = spans.reduce((most, span) => Math.max(most, span.toMs), fromMs);
  const state = await readRollUpState(sql, { accountId, checkIds, fromMs, toMs });
  const segments = spans.flatMap((span) =>
    planSegments({ ...span, pointMinutes: DAY_MINUTES, nowMs }, state),
  );
  const byLocation = new Map<string, Map<number, LocationRuns[]>>();
  for (const row of await countDaysByLocation(sql, { accountId, segments })) {
    const days = byLocation.get(row.checkId) ?? new Map<number, LocationRuns[]>();
    const locations = days.get(+row.start) ?? [];
    const { location, runs, passed } = row;
    locations.push({ location, runs, failures: runs - passed });
    days.set(+row.start, locations);
    byLocation.set(row.checkId, days);
  }
  return byLocation;
}

/** Like `readRunsByLocation`, but includes the minutes of heartbeats. */
export async function readWithHeartbeats(sql: Sql, query: SpansQuery): Promise<RunsByLocation> {
  const all = new Map(await readRunsByLocation(sql, query));
  const heartbeats = await readHeartbeats(sql, query);
  for (const span of query.spans) {
    // Rounded down, so that the remainder of a day is never negative.
    const minutes = heartbeats.minutes(span.checkId, span, 'down');
    if (minutes === null) continue;
    const dayMs = startOf(span.fromMs, DAY_MS);
    const days = new Map(all.get(span.checkId));
    days.set(dayMs, [...(days.get(dayMs) ?? []), { location: NOWHERE, ...minutes }]);
    all.set(span.checkId, days);
  }
  return all;
}

async function readHeartbeats(
  sql: Sql,
  { accountId, spans, nowMs }: SpansQuery,
): Promise<HeartbeatTimes> {
  const rows =
    spans.length === 0
      ? []
      : await readDowntime(sql, {
          accountId,
          checkIds: [...new Set(spans.map(({ checkId }) => checkId))],
          fromMs: spans.reduce((least, span) => Math.min(least, span.fromMs), nowMs),
          toMs: spans.reduce((most, span) => Math.max(most, span.toMs), 0),
          each: 'hour',
        });
  return new HeartbeatTimes(rows, nowMs);
}
