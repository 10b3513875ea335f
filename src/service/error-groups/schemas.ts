import { z } from 'zod';
import { type ErrorGroupChanges, errorGroupChangesSchema } from '../../model/result/error-group.ts';
import { ignored } from '../http/resources/resource-schemas.ts';
import type { ErrorGroup } from './error-groups.ts';

/**
 * What error groups of checks and of test sessions have in common: src/service/README.md, "Error
 * groups and test sessions".
 */
export const errorGroupFields = {
  id: z.string(),
  errorHash: z.string().describe('SHA-256 of cleanedErrorMessage, in hex digits.'),
  rawErrorMessage: z
    .string()
    .nullable()
    .describe('As it came with the earliest failure; null where a failure says nothing of why.'),
  cleanedErrorMessage: z
    .string()
    .describe('With placeholders for what differs from one failure to the next.'),
  firstSeen: z.iso.datetime().describe('When the earliest failed run began.'),
  lastSeen: z.iso.datetime().describe('When the latest failed run began.'),
  archivedUntilNextEvent: z
    .boolean()
    .describe('Whether it is put away; also where it is for ever (archiveForEver).'),
  rootCauseAnalyses: z.array(z.record(z.string(), z.unknown())).describe('Newest first.'),
};

/** The body of a PATCH: what else a group has may be sent back with it and changes nothing. */
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
  'archivedUntilNextEvent: true puts it away until a run that begins later fails so again. archiveForEver: true puts it away for good; its archivedUntilNextEvent is true from then on. Either with false takes it back.';

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

/** What of a body says how a group is to be archived. */
export function archiveChangesOf({
  archiveForEver,
  archivedUntilNextEvent,
}: Readonly<Record<string, unknown>>): ErrorGroupChanges {
  return errorGroupChangesSchema.parse({ archiveForEver, archivedUntilNextEvent });
}
