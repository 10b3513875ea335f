import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { checkResultSchema, type ReceivedResult } from '../../../wire/v1/check-result.ts';
import { invalid, type RequestProblem } from '../../errors.ts';
import { problemsOf } from '../../http/problems.ts';

/** Those after them are not looked at: the first ones are what a caller mends first. */
const MAX_BAD_RESULTS = 20;
/** Good results are quick to read; after so many of them the event loop goes on, too. */
const RESULTS_A_TURN = 100;

const TIMES = ['startedAt', 'stoppedAt', 'created_at'] as const;

/**
 * Reads results as `vedette run --output json` prints them. It lets the event loop turn now and
 * then, and after each bad one, which may be made to take long.
 *
 * @throws ServiceError 400 where one of them is not of that form: then none is taken
 */
export async function readResults(records: readonly unknown[]): Promise<readonly ReceivedResult[]> {
  const results: ReceivedResult[] = [];
  const problems: RequestProblem[] = [];
  let bad = 0;
  for (const [index, record] of records.entries()) {
    const found = problemsIn(record, index, results);
    problems.push(...found);
    if (found.length > 0) bad += 1;
    if (bad === MAX_BAD_RESULTS) break;
    if (found.length > 0 || index % RESULTS_A_TURN === RESULTS_A_TURN - 1) await nextTurn();
  }
  if (problems.length > 0) throw invalid(problems);
  return results;
}

/** Adds a good one to the others. */
function problemsIn(
  record: unknown,
  index: number,
  results: ReceivedResult[],
): readonly RequestProblem[] {
  const parsed = checkResultSchema.safeParse(record, { reportInput: true });
  if (!parsed.success) return problemsAt(index, parsed.error.issues);
  const result = parsed.data;
  // The schema lets years pass that the database has not.
  const wrong = TIMES.find((field) => !(Date.parse(result[field]) >= 0));
  if (wrong === undefined) {
    results.push(result);
    return [];
  }
  const message = 'must be a time from 1970 on';
  return problemsAt(index, [{ code: 'custom', path: [wrong], message, input: result[wrong] }]);
}

function problemsAt(index: number, issues: readonly z.core.$ZodIssue[]): readonly RequestProblem[] {
  const placed = issues.map((issue) => ({ ...issue, path: ['results', index, ...issue.path] }));
  return problemsOf(new z.ZodError(placed), 'body');
}
