import { DAY_MS } from '../../model/time-units.ts';
import type { Sql } from '../database/store.ts';
import { startOf } from './rollups/plan-segments.ts';
import { medianResponseTimes } from './usual-response-times.sql.ts';

const USUAL_DAYS = 7;

/** The `usualResponseTime` of these checks: src/service/README.md, "Analytics". Has no entry for a check without one. */
export function readUsualResponseTimes(
  sql: Sql,
  checks: { readonly accountId: string; readonly checkIds: readonly string[] },
  nowMs: number,
): Promise<ReadonlyMap<string, number>> {
  // A day is rolled up some minutes after its end.
  const fromMs = startOf(nowMs, DAY_MS) - USUAL_DAYS * DAY_MS;
  return medianResponseTimes(sql, { ...checks, fromMs, toMs: nowMs });
}
