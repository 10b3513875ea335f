import { z } from 'zod';
import type { YieldWhenDue } from '../../runtime/event-loop.ts';
import { checkResultSchema, type ReceivedResult } from '../../wire/v1/check-result.ts';
import { id, instant, openCode } from '../../wire/v1/fields.ts';
import { type ReadRecord, readRecord } from '../../wire/v1/read-record.ts';
import { invalid, type RequestProblem } from '../errors.ts';
import { problemsOf } from '../http/resources/problems.ts';
import type { MissedRun } from './sql.ts';

/** Stops after this many: a caller fixes the first ones first. */
const MAX_BAD_RECORDS = 20;

/** A slot, or several, without a run. */
export const missedRunSchema = z.strictObject({
  checkId: id.describe('The id of the check in its file.'),
  slot: instant.describe('The first missed slot, in milliseconds since 1970.'),
  lastSlot: instant.describe('The last missed slot; equal to `slot` if there is only one.'),
  count: z.int().min(1).max(1_000_000).describe('The number of slots.'),
  reason: openCode.describe('Why; the documentation has a table of the reasons.'),
});

/**
 * Reads results and missed runs as `vedette run --output json` prints them.
 *
 * @param yieldWhenDue called after each record, which may take some milliseconds
 * @throws ServiceError 400 where one of them is invalid
 */
export async function readReport(
  {
    results,
    missed,
  }: { readonly results: readonly unknown[]; readonly missed: readonly unknown[] },
  yieldWhenDue: YieldWhenDue,
): Promise<{
  readonly results: readonly ReceivedResult[];
  readonly missed: readonly MissedRun[];
}> {
  const readResults = await readList('results', results, readResult, yieldWhenDue);
  const readMissed = await readList('missed', missed, readMissedRun, yieldWhenDue);
  const problems = [...readResults.problems, ...readMissed.problems];
  if (problems.length > 0) throw invalid(problems);
  return { results: readResults.records, missed: readMissed.records };
}

async function readList<T>(
  name: string,
  given: readonly unknown[],
  read: (record: unknown) => ReadRecord<T>,
  yieldWhenDue: YieldWhenDue,
): Promise<{ readonly records: readonly T[]; readonly problems: readonly RequestProblem[] }> {
  const records: T[] = [];
  const problems: RequestProblem[] = [];
  let bad = 0;
  for (const [index, record] of given.entries()) {
    const judged = read(record);
    if (judged.kind === 'good') records.push(judged.value);
    else {
      const issues = judged.issues.map((issue) => {
        return { ...issue, path: [name, index, ...issue.path] };
      });
      problems.push(...problemsOf({ issues }, 'body'));
      bad += 1;
    }
    if (bad === MAX_BAD_RECORDS) break;
    await yieldWhenDue();
  }
  return { records, problems };
}

const TIMES = ['startedAt', 'stoppedAt', 'created_at'] as const;

function readResult(record: unknown): ReadRecord<ReceivedResult> {
  const read = readRecord(checkResultSchema, record, { reportInput: true });
  if (read.kind === 'bad') return read;
  const { value } = read;
  // The schema allows years that the database does not.
  const wrong = TIMES.find((field) => !(Date.parse(value[field]) >= 0));
  if (wrong === undefined) return read;
  const message = 'must be a time from 1970 on';
  return { kind: 'bad', issues: [{ code: 'custom', path: [wrong], message, input: value[wrong] }] };
}

function readMissedRun(record: unknown): ReadRecord<MissedRun> {
  return readRecord(missedRunSchema, record, { reportInput: true });
}
