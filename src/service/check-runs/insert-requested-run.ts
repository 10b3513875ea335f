import type { Check } from '../../model/check/check.ts';
import { sequenceIdOf } from '../../model/ids.ts';
import { lastSlotAt, slotRuleOf } from '../../model/schedule/slot-rule.ts';
import { MAX_ONE_OFFS } from '../../wire/v1/limits.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Sql } from '../database/store.ts';
import { REQUEST_WINDOW_MS } from './expiry.ts';
import type { CheckLocation } from './locations.sql.ts';
import { countOpenRuns, insertRun } from './sql.ts';

/** Runs requested in the same millisecond have slots one millisecond apart. */
export const MAX_SLOTS_TRIED = 100;

/** A requested run to store. `id` is the id of the run. */
export interface RequestedRun extends AccountKey {
  readonly check: Check;
  readonly location: Pick<CheckLocation, 'id' | 'slug'>;
  readonly nowMs: number;
}

/**
 * The outcome of storing a requested run.
 *
 * - `full`: MAX_ONE_OFFS runs wait in the location
 * - `no-slot`: the last MAX_SLOTS_TRIED slots of the check in the location are taken
 */
export type RequestOutcome = 'stored' | 'full' | 'no-slot';

/** Stores a requested run of a check, and wakes the polls of its location. */
export async function insertRequestedRun(sql: Sql, run: RequestedRun): Promise<RequestOutcome> {
  const { check, location } = run;
  if ((await countOpenRuns(sql, location.id)) >= MAX_ONE_OFFS) return 'full';
  let slotMs = freeSlotAt(check, run.nowMs);
  for (let tried = 1; !(await insertAt(sql, run, slotMs)); tried += 1) {
    if (tried === MAX_SLOTS_TRIED) return 'no-slot';
    slotMs = freeSlotAt(check, slotMs - 1);
  }
  return 'stored';
}

function insertAt(
  sql: Sql,
  { id, accountId, check, location }: RequestedRun,
  slotMs: number,
): Promise<boolean> {
  return insertRun(sql, {
    id,
    accountId,
    locationId: location.id,
    checkId: check.id,
    reason: 'requested',
    slotMs,
    sequenceId: sequenceIdOf(check.id, location.slug, slotMs),
    retriesMade: 0,
    firstStartedAtMs: null,
    originLocationId: null,
    notBeforeMs: null,
    windowMs: REQUEST_WINDOW_MS,
    maxDelayMs: 0,
  });
}

/** Returns the instant, or the one before it if the instant is a slot of the check, which belongs to a scheduled run. */
function freeSlotAt(check: Check, instantMs: number): number {
  const rule = slotRuleOf(check.id, check.frequency, check.frequencyOffset);
  return lastSlotAt(rule, instantMs) === instantMs ? instantMs - 1 : instantMs;
}
