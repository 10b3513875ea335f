import { checkErrorGroupId, type ErrorFacts } from '../../model/result/error-group.ts';
import type { ReceivedResult } from '../../wire/v1/check-result.ts';
import { knownFactsOf } from './known-facts.ts';
import type { ErrorOccurrences } from './sql.ts';

/** Where failures belong, and the id of their group there. */
export interface OccurrenceScope {
  readonly scope: string;
  readonly environment: string | null;
  idOf(errorHash: string): string;
}

/**
 * The failures among results, added up by group. What passed, is no FINAL or judges nothing is left
 * out.
 *
 * @param latestMs no failure counts as later than that, whatever the clock was by which it was seen
 */
export function occurrencesOf(
  results: readonly ReceivedResult[],
  placeOf: (result: ReceivedResult) => OccurrenceScope,
  latestMs: number,
): readonly ErrorOccurrences[] {
  const groups = new Map<string, ErrorOccurrences>();
  for (const result of results) {
    if (!result.hasFailures || result.resultType !== 'FINAL') continue;
    const facts = knownFactsOf(result);
    if (facts === null) continue;
    const { scope, environment, idOf } = placeOf(result);
    const id = idOf(facts.errorHash);
    const startedMs = Math.min(Date.parse(result.startedAt), latestMs);
    const one = {
      ...facts,
      id,
      scope,
      environment,
      firstMs: startedMs,
      lastMs: startedMs,
      occurrences: 1,
    };
    const before = groups.get(id);
    groups.set(id, before === undefined ? one : added(before, one));
  }
  return [...groups.values()];
}

/** Of the results of checks of the account. */
export function placeOfCheck(accountId: string): (result: ReceivedResult) => OccurrenceScope {
  return ({ checkId }) => ({
    scope: checkId,
    environment: null,
    idOf: (errorHash) => checkErrorGroupId(accountId, checkId, errorHash),
  });
}

function added(one: ErrorOccurrences, other: ErrorOccurrences): ErrorOccurrences {
  return {
    ...(isEarlier(other, one) ? other : one),
    firstMs: Math.min(one.firstMs, other.firstMs),
    lastMs: Math.max(one.lastMs, other.lastMs),
    occurrences: one.occurrences + other.occurrences,
  };
}

/** Whose message is kept; of two that began at once, the one that the store would keep. */
function isEarlier(one: ErrorOccurrences, other: ErrorOccurrences): boolean {
  return (
    one.firstMs < other.firstMs || (one.firstMs === other.firstMs && textOf(one) < textOf(other))
  );
}

function textOf({ rawErrorMessage }: ErrorFacts): string {
  return rawErrorMessage ?? '';
}
