import { MAX_RETRY_SECONDS, retryPlanOf } from '../../model/check/retry.ts';
import { sequenceIdOf } from '../../model/ids.ts';
import type { HandoverRequest, HandoverResponse } from '../../wire/v1/handover.ts';
import { MAX_ONE_OFFS } from '../../wire/v1/limits.ts';
import { findCheck } from '../checks/shared.sql.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Sql } from '../database/store.ts';
import type { AgentCaller } from '../private-locations/location-keys.ts';
import { isAssignedSlot } from '../results/intake/assigned-slots.ts';
import { listAssignedSlots } from '../results/shared.sql.ts';
import { findCancelledRuns, markCancelled } from './cancelling.sql.ts';
import { hasLease } from './claims.sql.ts';
import { type CheckLocation, locationsOfCheck } from './locations.sql.ts';
import {
  type AttemptKey,
  closeEarlierAttempts,
  countOpenRuns,
  findOrigin,
  findRunOfAttempt,
  insertRun,
} from './sql.ts';

const NOBODY: HandoverResponse = { runId: null, location: null };
/** How long the other location may start the retry, counted from when it is due. Afterwards the retry returns. */
export const RETRY_WINDOW_MS = 60_000;
/** A later start is a clock error. */
const MAX_RETRY_DELAY_MS = MAX_RETRY_SECONDS * 1000;
/** More than the duration of a run with its retries plus some minutes of clock error. */
const MAX_SLOT_AGE_MS = 3_600_000;
/** Equals the limit for results: the results of the run must be accepted later. */
const MAX_SLOT_AHEAD_MS = 60_000;

/**
 * Gives a retry to the next location of the check (in the check's order, after the caller's own) whose agent
 * for the check is live. Idempotent: a repeated call for the same attempt returns the same answer.
 *
 * Gives it to no location, so that the agent makes the retry itself, if there is no such location, the slot is
 * not recent, the agent has lost its lease, the check no longer has such a retry, or the run was cancelled; and
 * if the run neither has a slot of the caller's location nor was given to it: agents cannot hand over runs of
 * other locations.
 *
 * @param sql a transaction
 * @param newId the id of a new run
 * @param nowMs epoch milliseconds
 */
export async function handOver(
  sql: Sql,
  newId: string,
  { accountId, locationId }: AgentCaller,
  request: HandoverRequest,
  nowMs: number,
): Promise<HandoverResponse> {
  const { agentId, epoch, checkId, sequenceId, slot, retriesMade } = request;
  if (slot < nowMs - MAX_SLOT_AGE_MS || slot > nowMs + MAX_SLOT_AHEAD_MS) return NOBODY;
  if (!(await hasLease(sql, { accountId, locationId, agentId, epoch }))) return NOBODY;
  const locations = await locationsOfCheck(sql, { accountId, id: checkId });
  const originLocationId =
    (await ownOrigin(sql, locations, locationId, request)) ??
    (await findOrigin(sql, { accountId, checkId, sequenceId, slotMs: slot, locationId }));
  if (originLocationId === null) return NOBODY;

  const attempt: AttemptKey = { accountId, checkId, sequenceId, retriesMade };
  const given = await answerGiven(sql, attempt);
  if (given !== null) return given;

  if (!(await hasRetry(sql, { accountId, id: checkId }, retriesMade))) return NOBODY;
  const target = await nextLocation(sql, locations, locationId);
  if (target === null) return NOBODY;
  const isNew = await insertRun(sql, {
    ...attempt,
    id: newId,
    locationId: target.id,
    reason: 'retry',
    slotMs: slot,
    firstStartedAtMs: request.firstStartedAt,
    originLocationId,
    notBeforeMs: request.notBefore,
    windowMs: RETRY_WINDOW_MS,
    maxDelayMs: MAX_RETRY_DELAY_MS,
  });
  // A concurrent call inserted it.
  if (!isNew) return (await answerGiven(sql, attempt)) ?? NOBODY;
  await closeEarlierAttempts(sql, attempt);
  // Cancelling a run locks its attempts, so it happens either before this check or after the new attempt is stored.
  const [cancelled] = await findCancelledRuns(sql, { accountId, runs: [attempt] });
  if (cancelled !== undefined) {
    await markCancelled(sql, { accountId, runs: [attempt] });
    return NOBODY;
  }
  return { runId: newId, location: target.slug };
}

/** Whether the check currently allows a further retry in another location. */
async function hasRetry(sql: Sql, key: AccountKey, retriesMade: number): Promise<boolean> {
  const check = (await findCheck(sql, key))?.check;
  if (check === undefined || check.checkType === 'HEARTBEAT') return false;
  const plan = retryPlanOf(check.retryStrategy, check.doubleCheck);
  return !plan.sameRegion && retriesMade <= plan.maxRetries;
}

/** The caller's location, if it runs the check and was assigned the slot of the run. */
async function ownOrigin(
  sql: Sql,
  locations: readonly CheckLocation[],
  locationId: string,
  { checkId, sequenceId, slot }: HandoverRequest,
): Promise<string | null> {
  const own = locations.find(({ id }) => id === locationId);
  if (own === undefined || sequenceIdOf(checkId, own.slug, slot) !== sequenceId) return null;
  const assigned = await listAssignedSlots(sql, { locationId, checkIds: [checkId] });
  return isAssignedSlot(assigned, slot) ? own.id : null;
}

async function answerGiven(sql: Sql, attempt: AttemptKey): Promise<HandoverResponse | null> {
  const run = await findRunOfAttempt(sql, attempt);
  if (run === null) return null;
  const isOver = run.state === 'expired' || run.state === 'cancelled';
  return isOver ? NOBODY : { runId: run.id, location: run.location };
}

async function nextLocation(
  sql: Sql,
  locations: readonly CheckLocation[],
  ownId: string,
): Promise<CheckLocation | null> {
  const own = locations.findIndex(({ id }) => id === ownId);
  for (const location of [...locations.slice(own + 1), ...locations.slice(0, Math.max(own, 0))]) {
    if (!location.isAssigned) continue;
    if ((await countOpenRuns(sql, location.id)) < MAX_ONE_OFFS) return location;
  }
  return null;
}
