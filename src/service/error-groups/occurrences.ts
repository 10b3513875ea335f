import { checkErrorGroupId, type ErrorFacts } from '../../model/result/error-group.ts';
import type { ReceivedResult } from '../../wire/v1/check-result.ts';
import { knownFactsOf } from './known-facts.ts';
import type { ErrorOccurrences } from './sql.ts';

/** The scope of failures, and the id of their group in it. */
export interface OccurrenceScope {
  readonly scope: string;
  readonly environment: string | null;
  idOf(errorHash: string): string;
}

/**
 * Counts the failed FINAL results by group.
 *
 * @param latestMs later failures get this time, in case the clock of an agent is ahead; epoch milliseconds
 */
export function occurrencesOf(
  results: readonly ReceivedResult[],
  scopeOf: (result: ReceivedResult) => OccurrenceScope,
  latestMs: number,
): readonly ErrorOccurrences[] {
  const groups = new Map<string, ErrorOccurrences>();
  for (const result of results) {
    if (!result.hasFailures || result.resultType !== 'FINAL') continue;
    const facts = knownFactsOf(result);
    if (facts === null) continue;
    const { scope, environment, idOf } = scopeOf(result);
    const id = idOf(facts.errorHash);
    const startedMs = Math.min(Date.parse(result.startedAt), latestMs);
    const occurrence = {
      ...facts,
      id,
      scope,
      environment,
      firstMs: startedMs,
      lastMs: startedMs,
      occurrences: 1,
    };
    const before = groups.get(id);
    groups.set(id, before === undefined ? occurrence : added(before, occurrence));
  }
  return [...groups.values()];
}

export function checkScopeOf(accountId: string): (result: ReceivedResult) => OccurrenceScope {
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

/** Decides which message is stored, by the same rule as the statement of `addOccurrences`. */
function isEarlier(one: ErrorOccurrences, other: ErrorOccurrences): boolean {
  return (
    one.firstMs < other.firstMs || (one.firstMs === other.firstMs && textOf(one) < textOf(other))
  );
}

function textOf({ rawErrorMessage }: ErrorFacts): string {
  return rawErrorMessage ?? '';
}
