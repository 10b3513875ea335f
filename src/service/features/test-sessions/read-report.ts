import type { z } from 'zod';
import type { Turn } from '../../../runtime/event-loop.ts';
import { checkResultSchema, type ReceivedResult } from '../../../wire/v1/check-result.ts';
import { readRecord } from '../../../wire/v1/read-record.ts';
import { invalid, type RequestProblem } from '../../errors.ts';
import { problemsOf } from '../../http/problems.ts';

/** Those after them are not looked at: the first ones are what a caller mends first. */
const MAX_BAD_RESULTS = 20;

const TIMES = ['startedAt', 'stoppedAt', 'created_at'] as const;

/**
 * Reads results as `vedette run --output json` prints them.
 *
 * @param turn called after each, which takes some milliseconds where it is made for that
 * @throws ServiceError 400 where one of them is not of that form: then none is taken
 */
export async function readResults(
  records: readonly unknown[],
  turn: Turn,
): Promise<readonly ReceivedResult[]> {
  const results: ReceivedResult[] = [];
  const problems: RequestProblem[] = [];
  let bad = 0;
  for (const [index, record] of records.entries()) {
    const found = problemsIn(record, index, results);
    problems.push(...found);
    if (found.length > 0) bad += 1;
    if (bad === MAX_BAD_RESULTS) break;
    await turn();
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
  const read = readRecord(checkResultSchema, record, { reportInput: true });
  if (read.kind === 'bad') return problemsAt(index, read.issues);
  const result = read.value;
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
  return problemsOf({ issues: placed }, 'body');
}
