import { z } from 'zod';
import { type ErrorGroupChanges, errorGroupChangesSchema } from '../../model/result/error-group.ts';
import { ignored } from '../http/resources/resource-schemas.ts';
import type { ErrorGroup } from './error-groups.ts';

/** The fields of both kinds of groups: src/service/README.md, "Error groups and test sessions". */
export const errorGroupFields = {
  id: z.string(),
  errorHash: z.string().describe('SHA-256 of cleanedErrorMessage, in hex digits.'),
  rawErrorMessage: z
    .string()
    .nullable()
    .describe('The message of the earliest failure; null where it has none.'),
  cleanedErrorMessage: z
    .string()
    .describe('With placeholders for the parts that differ between failures.'),
  firstSeen: z.iso.datetime().describe('When the earliest failed run began.'),
  lastSeen: z.iso.datetime().describe('When the latest failed run began.'),
  archivedUntilNextEvent: z
    .boolean()
    .describe('Whether the group is archived, also for ever (archiveForEver).'),
  rootCauseAnalyses: z.array(z.record(z.string(), z.unknown())).describe('Newest first.'),
};

/** The body of a PATCH. The other fields of a group are ignored. */
export const errorGroupChanges = errorGroupChangesSchema.extend(
  ignored([
    'id',
    'checkId',
    'projectId',
    'environments',
    'errorHash',
    'rawErrorMessage',
    'cleanedErrorMessage',
    'firstSeen',
    'lastSeen',
    'pwtMetadata',
    'rootCauseAnalyses',
  ]),
);

export const UPDATE_DESCRIPTION =
  'archivedUntilNextEvent: true archives the group until a later run fails with the same message. archiveForEver: true archives it for ever; its archivedUntilNextEvent is true from then on. Either with false unarchives it.';

export function presentErrorGroup(group: ErrorGroup) {
  return {
    id: group.id,
    errorHash: group.errorHash,
    rawErrorMessage: group.rawErrorMessage,
    cleanedErrorMessage: group.cleanedErrorMessage,
    firstSeen: group.firstSeen.toISOString(),
    lastSeen: group.lastSeen.toISOString(),
    archivedUntilNextEvent: group.archive !== 'none',
    rootCauseAnalyses: [...group.analyses],
  };
}

export function archiveChangesOf({
  archiveForEver,
  archivedUntilNextEvent,
}: Readonly<Record<string, unknown>>): ErrorGroupChanges {
  return errorGroupChangesSchema.parse({ archiveForEver, archivedUntilNextEvent });
}
