import { cancelRuns } from '../check-runs/cancelling.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Sql } from '../database/store.ts';
import { conflict, notFound } from '../errors.ts';
import { groupVerdictOf } from './progress.ts';
import {
  cancelPendingMembers,
  endGroupRun,
  listMembers,
  lockGroupRun,
  settleMembers,
} from './sql.ts';

/**
 * Cancels a group run: starts no further members and cancels the runs in progress. A concurrent transaction
 * that advances the group run waits for its row, and then finds it ended.
 *
 * @throws ServiceError 404; 409 if it has ended
 */
export async function cancelGroupRun(tx: Sql, { accountId, id }: AccountKey): Promise<void> {
  const state = await lockGroupRun(tx, { accountId, id });
  if (state === null) throw notFound('check group run');
  if (state === 'cancelled') return;
  if (state === 'ended') {
    throw conflict('The run of the group has ended already: its verdict stays', {
      reason: 'ended',
    });
  }
  await cancelPendingMembers(tx, id);
  const started = (await listMembers(tx, id)).flatMap(({ runId, runState }) =>
    runId !== null && runState !== null ? [runId] : [],
  );
  await cancelRuns(tx, accountId, started);
  await settleMembers(tx, id);
  const members = await listMembers(tx, id);
  await endGroupRun(tx, { id, state: 'cancelled', verdict: groupVerdictOf(members) });
}
