import { z } from 'zod';
import { stableId } from '../ids.ts';
import { cleanErrorMessage, cutErrorMessage, errorHashOf } from './error-grouping.ts';
import { type FailedResult, isFailure, rootMessageOf } from './failure-message.ts';

/** What identifies an error group: src/service/README.md, "Error groups and test sessions". */
export interface ErrorFacts {
  /** The original message, its first MAX_ERROR_MESSAGE_CHARS; null if the result has none. */
  readonly rawErrorMessage: string | null;
  readonly cleanedErrorMessage: string;
  /** The hash of the cleaned message. */
  readonly errorHash: string;
}

/** The message of failures without one, which form one group. */
const NO_MESSAGE = 'The run failed without a message';

/** null if the result did not fail, was cancelled, or failed by a fault of the agent. */
export function errorFactsOf(result: FailedResult): ErrorFacts | null {
  if (!isFailure(result)) return null;
  const raw = rootMessageOf(result);
  const cleaned = raw === null ? '' : cleanErrorMessage(raw);
  const cleanedErrorMessage = cleaned === '' ? NO_MESSAGE : cleaned;
  return {
    rawErrorMessage: raw === null ? null : cutErrorMessage(raw),
    cleanedErrorMessage,
    errorHash: errorHashOf(cleanedErrorMessage),
  };
}

/** The id of the group of a check's failures with that hash, the same in every service. */
export function checkErrorGroupId(accountId: string, checkId: string, errorHash: string): string {
  return stableId('error-group', accountId, checkId, errorHash);
}

/**
 * The same for test sessions: one group per project, and one for all sessions without a project.
 */
export function testSessionErrorGroupId(
  accountId: string,
  projectId: string | null,
  errorHash: string,
): string {
  return stableId('test-session-error-group', accountId, projectId ?? '', errorHash);
}

/**
 * - `none`: not archived
 * - `until-next-event`: archived until a later run fails with the same error
 * - `for-ever`: archived until somebody restores it
 */
export type ErrorGroupArchive = 'none' | 'until-next-event' | 'for-ever';

/** The body of a PATCH: src/service/README.md, "Error groups and test sessions". */
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

/** A group archived forever also has `archivedUntilNextEvent` true. */
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
