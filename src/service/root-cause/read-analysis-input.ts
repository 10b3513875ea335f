import type { Check } from '../../model/check/check.ts';
import { slotRuleOf } from '../../model/schedule/slot-rule.ts';
import { DAY_MS, MINUTE_MS } from '../../model/time-units.ts';
import type { ReceivedResult } from '../../wire/v1/check-result.ts';
import { findCheck } from '../checks/shared.sql.ts';
import type { Sql } from '../database/store.ts';
import { findResult } from '../results/shared.sql.ts';
import type { AnalysisInput, FailureContext } from './analysis-input.ts';
import { failuresSince, neighboursOf, otherLocations, passedBefore } from './evidence.sql.ts';
import type { AnalysisSubject } from './sql.ts';

const LOOK_BACK_MS = 7 * DAY_MS;
/** The number of runs for the medians. */
const PASSED_RUNS = 15;
const MAX_LOCATIONS = 20;
const MAX_NEIGHBOURS = 20;
/** Runs within this time are compared. */
const NEAR_MS = 5 * MINUTE_MS;
const NEIGHBOUR_MS = 60 * MINUTE_MS;

/** Null if the result was removed. */
export async function readAnalysisInput(
  sql: Sql,
  accountId: string,
  { checkId, resultId }: Pick<AnalysisSubject, 'checkId' | 'resultId'>,
): Promise<AnalysisInput | null> {
  const body = await findResult(sql, { accountId, checkId, id: resultId });
  if (body === null) return null;
  const result = resultIn(body);
  const stored = await findCheck(sql, { accountId, id: checkId });
  const check = stored === null || stored.check.checkType === 'HEARTBEAT' ? null : stored.check;
  return { accountId, result, check, surroundings: await around(sql, accountId, result, check) };
}

/** Parses a stored result without validation, which was done at intake. */
export function resultIn(body: string): ReceivedResult {
  return JSON.parse(body);
}

async function around(
  sql: Sql,
  accountId: string,
  { checkId, runLocation: location, checkRunId: slotMs }: ReceivedResult,
  check: Check | null,
): Promise<FailureContext> {
  const run = { accountId, checkId, location, slotMs };
  const passed = await passedBefore(sql, run, { withinMs: LOOK_BACK_MS, limit: PASSED_RUNS });
  const lastMs = passed[0]?.slotMs ?? slotMs - LOOK_BACK_MS;
  // Sequential: the embedded database has one thread, and the pool is needed for requests.
  return {
    lookedBackMs: LOOK_BACK_MS,
    passed,
    failing: await failuresSince(sql, run, lastMs),
    others: await otherLocations(sql, run, {
      withinMs: Math.max(NEAR_MS, 2 * rotationMsOf(check)),
      limit: MAX_LOCATIONS,
    }),
    neighbours: await neighboursOf(sql, run, {
      fromMs: slotMs - NEIGHBOUR_MS,
      toMs: slotMs + NEIGHBOUR_MS,
      limit: MAX_NEIGHBOURS,
    }),
  };
}

/** The time of a rotation over all locations. */
function rotationMsOf(check: Check | null): number {
  if (check === null) return 0;
  const { periodMs } = slotRuleOf(check.id, check.frequency, check.frequencyOffset);
  const locations = (check.locations?.length ?? 0) + (check.privateLocations?.length ?? 0);
  return check.runParallel ? periodMs : periodMs * Math.max(1, locations);
}
