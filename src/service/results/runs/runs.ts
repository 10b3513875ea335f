import type { Check } from '../../../model/check/check.ts';
import { resultIdOf } from '../../../model/ids.ts';
import { type Advice, adviceOf } from '../../../model/result/advice.ts';
import { ERROR_CODES } from '../../../model/result/error-codes.ts';
import { reasonsOf } from '../../../model/result/reasons.ts';
import type { CheckResult } from '../../../model/result/result.ts';
import { detailOf, responseSummaryOf } from '../../../model/result/result-summary.ts';
import { type RunResult, runResultOf } from '../../../model/result/run-result.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { findCheck } from '../../checks/shared.sql.ts';
import type { Store } from '../../database/store.ts';
import { notFound } from '../../errors.ts';
import { unstorableTexts } from '../../http/resources/input-problems.ts';
import { type Page, rangeOf } from '../../http/resources/paging.ts';
import { queryWindow, type RequestedWindow } from '../../http/resources/window-parameters.ts';
import { findResult } from '../sql.ts';
import { type AttemptKey, findAttempts, findLastPassingResult, listFinals } from './sql.ts';

/** A summary of one attempt of a run. */
export interface AttemptSummary {
  readonly resultId: string;
  /** From 1. */
  readonly number: number;
  readonly location: string;
  readonly result: RunResult;
  readonly startedAt: string;
  readonly responseTime: number;
  readonly errorCode: string | null;
  /** The response in a few words; null if there was none. */
  readonly response: string | null;
  /** The first reason; null if it passed. */
  readonly reason: string | null;
}

/** A run: its last attempt, and those before it. */
export interface RunSummary extends AttemptSummary {
  readonly slotMs: number;
  readonly sequenceId: string;
  /** The retried attempts, in order. */
  readonly retried: readonly AttemptSummary[];
}

/** Why a result is as it is, and what to do. */
export interface Explanation {
  readonly resultId: string;
  readonly result: RunResult;
  readonly reasons: readonly string[];
  readonly errorCode: string | null;
  /** What the error code means. */
  readonly meaning: string | null;
  readonly advice: Advice | null;
  /** All stored attempts of its run, itself included, in order. */
  readonly attempts: readonly AttemptSummary[];
  /** The last run before it that passed and was not degraded; null if none is stored. */
  readonly lastPassing: (AttemptSummary & { readonly slotMs: number }) | null;
}

export interface RunQuery extends Page, RequestedWindow {
  readonly location: string | null;
  readonly results: readonly RunResult[] | null;
}

/** The runs of checks, with their retries folded: src/service/README.md, "Check results". */
export interface Runs {
  /**
   * Newest first; a run is listed once its FINAL is stored.
   *
   * @throws ServiceError 404 for a check that does not exist
   */
  list(accountId: string, checkId: string, query: RunQuery): Promise<readonly RunSummary[]>;
  /** @throws ServiceError 404 if the check or the result does not exist */
  explain(accountId: string, checkId: string, resultId: string): Promise<Explanation>;
}

/** The limit of the protocol (src/wire/v1/check-result.ts). */
const MAX_ATTEMPTS = 11;

export function createRuns({
  store,
  clock,
}: {
  readonly store: Store;
  readonly clock: Clock;
}): Runs {
  async function checkOf(accountId: string, id: string): Promise<Check | null> {
    const found = await findCheck(store, { accountId, id });
    if (found === null) throw notFound('check');
    return found.check.checkType === 'HEARTBEAT' ? null : found.check;
  }

  return {
    async list(accountId, checkId, query) {
      const check = await checkOf(accountId, checkId);
      const { location, results } = query;
      // No location has such a name, and PostgreSQL would refuse the text.
      if (unstorableTexts(location).length > 0) return [];
      const finals = await listFinals(store, {
        accountId,
        checkId,
        location,
        results,
        ...queryWindow(query, clock.wallMs()),
        ...rangeOf(query),
      });
      const attempts = finals.flatMap((final) => attemptKeys(final, final.attempts));
      const retried = await findAttempts(store, { accountId, checkId, attempts });
      return finals.map((final) => ({
        ...summaryOf(final, check),
        slotMs: final.checkRunId,
        sequenceId: final.sequenceId,
        retried: inOrder(retried.filter((each) => each.sequenceId === final.sequenceId)).map(
          (each) => summaryOf(each, check),
        ),
      }));
    },

    async explain(accountId, checkId, resultId) {
      const check = await checkOf(accountId, checkId);
      const body = await findResult(store, { accountId, checkId, id: resultId });
      if (body === null) throw notFound('check result');
      const result = JSON.parse(body) as CheckResult;
      const [attempts, lastPassing] = await Promise.all([
        findAttempts(store, { accountId, checkId, attempts: attemptKeys(result, MAX_ATTEMPTS) }),
        findLastPassingResult(store, { accountId, checkId, before: new Date(result.created_at) }),
      ]);
      return explanationOf(result, check, { attempts, lastPassing });
    },
  };
}

/**
 * @param attempts of its run, itself included
 * @param lastPassing the last run before it that passed; null if there is none
 */
export function explanationOf(
  result: CheckResult,
  check: Check | null,
  {
    attempts,
    lastPassing,
  }: { readonly attempts: readonly CheckResult[]; readonly lastPassing: CheckResult | null },
): Explanation {
  const code = detailOf(result)?.requestErrorCode ?? null;
  return {
    resultId: result.id,
    result: runResultOf(result),
    reasons: reasonsFor(result, check),
    errorCode: code,
    meaning: code !== null && Object.hasOwn(ERROR_CODES, code) ? ERROR_CODES[code].meaning : null,
    advice: adviceOf(result),
    attempts: inOrder(attempts).map((each) => summaryOf(each, check)),
    lastPassing:
      lastPassing === null
        ? null
        : { ...summaryOf(lastPassing, check), slotMs: lastPassing.checkRunId },
  };
}

/** Returns the keys of a run's first attempts, whose ids follow from the run. */
function attemptKeys({ sequenceId, checkRunId }: CheckResult, count: number): AttemptKey[] {
  return Array.from({ length: count }, (_, index) => ({
    id: resultIdOf(sequenceId, index + 1),
    slotMs: checkRunId,
  }));
}

function inOrder(attempts: readonly CheckResult[]): readonly CheckResult[] {
  return attempts.toSorted((one, other) => one.attempts - other.attempts);
}

function summaryOf(result: CheckResult, check: Check | null): AttemptSummary {
  return {
    resultId: result.id,
    number: result.attempts + 1,
    location: result.runLocation,
    result: runResultOf(result),
    startedAt: result.startedAt,
    responseTime: result.responseTime,
    errorCode: detailOf(result)?.requestErrorCode ?? null,
    response: responseSummaryOf(result),
    reason: reasonsFor(result, check)[0] ?? null,
  };
}

/** Empty for a run that passed. */
function reasonsFor(result: CheckResult, check: Check | null): readonly string[] {
  const ended = runResultOf(result);
  return ended === 'passed' ? [] : reasonsOf(result, ended, check);
}
