import { sequenceIdOf } from '../../../model/ids.ts';
import { checkErrorGroupId } from '../../../model/result/error-group.ts';
import type { YieldWhenDue } from '../../../runtime/event-loop.ts';
import { groupBy } from '../../../runtime/group-by.ts';
import type { ReceivedResult } from '../../../wire/v1/check-result.ts';
import type { Sql } from '../../database/store.ts';
import { knownFactsOf, withErrorGroups } from '../../error-groups/known-facts.ts';
import type { FinalsHandler, NewFinals } from '../finals-handler.ts';
import { removeMissed } from '../missed-slots/record-and-remove-missed.ts';
import type { RunSlot } from '../sql.ts';
import { type CheckStatus, findStatuses, putStatuses } from '../statuses/sql.ts';
import { statusAfterFinals } from '../statuses/status-fold.ts';
import { insertResults, type ResultKey, raiseToFinal } from './store-results.sql.ts';

/** The result with its error group. The service ignores what the agent sends; nearly all results have none. */
function withErrorGroup(accountId: string, result: ReceivedResult): ReceivedResult {
  const isFinal = result.resultType === 'FINAL';
  const facts = isFinal && result.hasFailures ? knownFactsOf(result) : null;
  if (facts === null && result.errorGroupIds.length === 0) return result;
  const { checkId } = result;
  const ids = facts === null ? [] : [checkErrorGroupId(accountId, checkId, facts.errorHash)];
  return withErrorGroups(result, ids);
}

/**
 * Stores results of checks that `lockSubjects` has locked. A run has one FINAL, the first received.
 * Results that are already stored or no longer needed change nothing.
 *
 * @param yieldWhenDue called after each
 * @returns the FINALs that were not stored before
 */
export async function storeResults(
  tx: Sql,
  accountId: string,
  received: readonly ReceivedResult[],
  yieldWhenDue: YieldWhenDue,
): Promise<readonly ReceivedResult[]> {
  if (received.length === 0) return [];
  const results: ReceivedResult[] = [];
  for (const result of received) {
    results.push(withErrorGroup(accountId, result));
    await yieldWhenDue();
  }
  const inserted = await insertResults(tx, { accountId, results });
  const finals = results.filter(({ resultType }) => resultType === 'FINAL');
  if (inserted.length === results.length) return finals;
  const stored = firstOfEach(finals, nameOf);
  const names = new Set(inserted.map(nameOf));
  const others = finals.filter((final) => !names.has(nameOf(final)));
  const candidates = firstOfEach(others, runOf);
  const raised =
    candidates.length === 0 ? [] : await raiseToFinal(tx, { accountId, results: candidates });
  for (const key of raised) names.add(nameOf(key));
  return stored.filter((final) => names.has(nameOf(final)));
}

/** A batch may contain several items with the same name; the first is stored. */
function firstOfEach<T>(items: readonly T[], name: (item: T) => string): readonly T[] {
  const first = new Map<string, T>();
  for (const item of items) if (!first.has(name(item))) first.set(name(item), item);
  return [...first.values()];
}

function runOf({ checkId, sequenceId, checkRunId }: ReceivedResult): string {
  return JSON.stringify([checkId, sequenceId, checkRunId]);
}

function nameOf({ checkId, id, checkRunId, resultType }: ResultKey): string {
  return JSON.stringify([checkId, id, checkRunId, resultType]);
}

/** Updates the statuses with new FINALs, and removes their slots from the missed slots. */
export function settleFinals(yieldWhenDue: YieldWhenDue): FinalsHandler {
  return async (tx, batch) => {
    const { accountId, location, finals } = batch;
    await updateStatuses(tx, batch);
    await removeMissed(tx, { accountId, location, finals: finals.map(runSlotOf) }, yieldWhenDue);
    // A retry that another location handed over fills a slot of that location.
    const handedOver = finals
      .filter(({ attempts }) => attempts > 0)
      .map(runSlotOf)
      .filter((run) => sequenceIdOf(run.checkId, location, run.slotMs) !== run.sequenceId);
    await removeMissed(tx, { accountId, location: null, finals: handedOver }, yieldWhenDue);
  };
}

function runSlotOf({ checkId, sequenceId, checkRunId }: ReceivedResult): RunSlot {
  return { checkId, sequenceId, slotMs: checkRunId };
}

async function updateStatuses(
  tx: Sql,
  { accountId, finals, current, atMs }: NewFinals,
): Promise<void> {
  const ofCheck = groupBy(finals, ({ checkId }) => checkId);
  const stored = await findStatuses(tx, { accountId, checkIds: [...ofCheck.keys()] });
  const before = new Map(stored.map((status) => [status.checkId, status]));
  const statuses: CheckStatus[] = [];
  for (const [checkId, own] of ofCheck) {
    const status = before.get(checkId) ?? null;
    const next = statusAfterFinals(status, own, current);
    if (next !== null && next !== status) statuses.push(next);
  }
  if (statuses.length > 0) await putStatuses(tx, { accountId, statuses, atMs });
}
