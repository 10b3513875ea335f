import { z } from 'zod';
import { stableId } from '../ids.ts';
import { cleanErrorMessage, cutErrorMessage, errorHashOf } from './error-message.ts';
import { type FailedResult, isFailure, rootMessageOf } from './failure-message.ts';

/** What failed results are grouped by: src/service/README.md, "Error groups and test sessions". */
export interface ErrorFacts {
  /** As it came, its first MAX_ERROR_MESSAGE_CHARS; null where the result says nothing of why. */
  readonly rawErrorMessage: string | null;
  readonly cleanedErrorMessage: string;
  /** Of the cleaned message. */
  readonly errorHash: string;
}

/** Stands for the message of failures of which nothing is said: they are one group, too. */
const NOTHING_SAID = 'The run failed without a message';

/** null where the result did not fail, or was cancelled, or failed by a fault of our own. */
export function errorFactsOf(result: FailedResult): ErrorFacts | null {
  if (!isFailure(result)) return null;
  const raw = rootMessageOf(result);
  const cleaned = raw === null ? '' : cleanErrorMessage(raw);
  const cleanedErrorMessage = cleaned === '' ? NOTHING_SAID : cleaned;
  return {
    rawErrorMessage: raw === null ? null : cutErrorMessage(raw),
    cleanedErrorMessage,
    errorHash: errorHashOf(cleanedErrorMessage),
  };
}

/** The group of a check's failures with that hash. Every service computes the same. */
export function checkErrorGroupId(accountId: string, checkId: string, errorHash: string): string {
  return stableId('error-group', accountId, checkId, errorHash);
}

/** The same of test sessions: of a project, or of those that are of none. */
export function testSessionErrorGroupId(
  accountId: string,
  projectId: string | null,
  errorHash: string,
): string {
  return stableId('test-session-error-group', accountId, projectId ?? '', errorHash);
}

/**
 * - `none`: it is among those to look at
 * - `until-next-event`: put away, and back as soon as a later run fails so again
 * - `for-ever`: put away until somebody takes it back
 */
export type ErrorGroupArchive = 'none' | 'until-next-event' | 'for-ever';

/** What a PATCH may say: src/service/README.md, "Error groups and test sessions". */
export const errorGroupChangesSchema = z.strictObject({
  archivedUntilNextEvent: z
    .boolean()
    .optional()
    .describe(
      'true: archives the group until a run that starts later fails with the same error. false: restores the group, even if it was archived forever.',
    ),
  archiveForEver: z
    .boolean()
    .optional()
    .describe(
      'true: archives the group forever, whatever archivedUntilNextEvent is. false: ends this.',
    ),
});
export type ErrorGroupChanges = z.infer<typeof errorGroupChangesSchema>;

/** The specification leaves open what archiveForEver leads to: it counts as archived. */
export function archiveAfter(
  before: ErrorGroupArchive,
  { archiveForEver, archivedUntilNextEvent }: ErrorGroupChanges,
): ErrorGroupArchive {
  if (archiveForEver === true) return 'for-ever';
  const kept = archiveForEver === false && before === 'for-ever' ? 'none' : before;
  if (archivedUntilNextEvent === undefined) return kept;
  if (!archivedUntilNextEvent) return 'none';
  return kept === 'for-ever' ? kept : 'until-next-event';
}
