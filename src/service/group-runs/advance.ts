import { insertRequestedRun } from '../check-runs/insert-requested-run.ts';
import { findCheck } from '../checks/shared.sql.ts';
import type { Sql, Store } from '../database/store.ts';
import { findPrivateLocation } from '../private-locations/shared.sql.ts';
import { groupVerdictOf, haveEnded, nextMembers, type SkipReason } from './progress.ts';
import {
  changeMembers,
  endGroupRun,
  type LockedGroupRun,
  listDueGroupRuns,
  listMembers,
  lockOpenGroupRun,
  type MemberChange,
  type StoredMember,
  settleMembers,
} from './sql.ts';

export interface AdvanceParts {
  readonly store: Store;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly nowMs: () => number;
}

const BATCH = 500;

/**
 * Advances all group runs in which a run has ended, or in which a location that was full has not started
 * all runs of its step. Safe on several replicas: each group run is advanced under the lock of its row.
 *
 * @returns how many it advanced
 */
export async function sweepGroupRuns(parts: AdvanceParts): Promise<number> {
  const due = await listDueGroupRuns(parts.store, BATCH);
  const failures: unknown[] = [];
  let advanced = 0;
  for (const id of due) {
    try {
      if (await advanceOne(id, parts)) advanced += 1;
    } catch (error) {
      // Continues with the other group runs.
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return advanced;
}

function advanceOne(id: string, parts: AdvanceParts): Promise<boolean> {
  return parts.store.transaction(async (tx) => {
    const run = await lockOpenGroupRun(tx, id);
    if (run !== null) await advanceGroupRun(tx, run, parts);
    return run !== null;
  });
}

/** Records the outcome of ended runs, starts the next ones, and ends the group run after the last run. */
export async function advanceGroupRun(
  tx: Sql,
  run: LockedGroupRun,
  parts: Omit<AdvanceParts, 'store'>,
): Promise<void> {
  await settleMembers(tx, run.id);
  for (;;) {
    const members = await listMembers(tx, run.id);
    if (haveEnded(members)) {
      return endGroupRun(tx, { id: run.id, state: 'ended', verdict: groupVerdictOf(members) });
    }
    const changes: MemberChange[] = [];
    for (const member of nextMembers(members, run.concurrency)) {
      const change = await start(tx, run, member, parts);
      if (change !== null) changes.push(change);
    }
    await changeMembers(tx, run.id, changes);
    // Skipped members leave their concurrency to other members.
    if (!changes.some(({ reason }) => reason !== null)) return;
  }
}

/**
 * Requests the run of a member. Returns null, to retry later, if too many runs wait in the location or the
 * check has no free slot at this moment.
 */
async function start(
  tx: Sql,
  { accountId }: LockedGroupRun,
  { n, checkId, location: slug, locationId }: StoredMember,
  { ids, nowMs }: Omit<AdvanceParts, 'store'>,
): Promise<MemberChange | null> {
  const skipped = (reason: SkipReason): MemberChange => ({ n, runId: null, reason });
  const found = await findCheck(tx, { accountId, id: checkId });
  if (found === null) return skipped('check_deleted');
  const { check } = found;
  if (check.checkType === 'HEARTBEAT') return skipped('heartbeat');
  if (slug === null || locationId === null) return skipped('no_location');
  if ((await findPrivateLocation(tx, { accountId, id: locationId })) === null) {
    return skipped('no_location');
  }
  const id = ids();
  const location = { id: locationId, slug };
  const run = { accountId, id, check, location, nowMs: nowMs() };
  const outcome = await insertRequestedRun(tx, run);
  return outcome === 'stored' ? { n, runId: id, reason: null } : null;
}
