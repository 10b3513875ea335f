import type { FastifyPluginAsync } from 'fastify';
import { z } from 'zod';
import { type ErrorGroupChanges, errorGroupChangesSchema } from '../../model/result/error-group.ts';
import { callerOf } from '../http/access/authentication.ts';
import { CONDITIONAL, READ } from '../http/access/route-roles.ts';
import { preconditionOf } from '../http/resources/etag.ts';
import { booleanQuery } from '../http/resources/parameters.ts';
import { ignored } from '../http/resources/resource-schemas.ts';
import { idOf } from '../http/resources/shown-fields.ts';
import type { ErrorGroup, ErrorGroupKind, ErrorGroups } from './error-groups.ts';

/** `archived` of a list. */
export const archivedQuery = booleanQuery(false)
  .unwrap()
  .optional()
  .describe('true: only archived groups; false: only the others.');

/** The fields of both kinds of groups: src/service/README.md, "Error groups and test sessions". */
export const errorGroupFields = {
  id: idOf('the group'),
  errorHash: z.string().describe('SHA-256 of cleanedErrorMessage, in hex digits.'),
  rawErrorMessage: z
    .string()
    .nullable()
    .describe('The message of the earliest failure; null if it has none.'),
  cleanedErrorMessage: z
    .string()
    .describe('With placeholders for the parts that differ between failures.'),
  firstSeen: z.iso.datetime().describe('When the earliest failed run began.'),
  lastSeen: z.iso.datetime().describe('When the latest failed run began.'),
  occurrences: z.int().describe('How many runs failed so.'),
  archivedUntilNextEvent: z
    .boolean()
    .describe('Whether the group is archived, also for ever (archiveForEver).'),
  rootCauseAnalyses: z.array(z.record(z.string(), z.unknown())).describe('Newest first.'),
};

/** The body of a PATCH. The other fields of a group are ignored. */
const changes = errorGroupChangesSchema.extend(
  ignored([
    'id',
    'checkId',
    'checkName',
    'projectId',
    'environments',
    'errorHash',
    'rawErrorMessage',
    'cleanedErrorMessage',
    'firstSeen',
    'lastSeen',
    'occurrences',
    'pwtMetadata',
    'rootCauseAnalyses',
  ]),
);

export function presentErrorGroup(group: ErrorGroup) {
  return {
    id: group.id,
    errorHash: group.errorHash,
    rawErrorMessage: group.rawErrorMessage,
    cleanedErrorMessage: group.cleanedErrorMessage,
    firstSeen: group.firstSeen.toISOString(),
    lastSeen: group.lastSeen.toISOString(),
    occurrences: group.occurrences,
    archivedUntilNextEvent: group.archive !== 'none',
    rootCauseAnalyses: [...group.analyses],
  };
}

/** The routes that read and archive a group of one kind. */
export function readAndArchiveRoutes<Shown>({
  path,
  resource,
  tag,
  kind,
  id,
  response,
  summaries,
  errorGroups,
  present,
}: {
  readonly path: string;
  /** In names of operations. */
  readonly resource: string;
  readonly tag: string;
  readonly kind: ErrorGroupKind;
  readonly id: z.ZodType<string>;
  readonly response: z.ZodType<Shown>;
  readonly summaries: Readonly<Record<'read' | 'archive', string>>;
  readonly errorGroups: Pick<ErrorGroups, 'get' | 'update'>;
  readonly present: (group: ErrorGroup) => Shown;
}): FastifyPluginAsync {
  const shared = { tags: [tag], params: z.object({ id }), response: { 200: response } };
  interface OfOne {
    readonly Params: { readonly id: string };
    readonly Body: ErrorGroupChanges;
  }

  return async (app) => {
    app.get<OfOne>(
      `${path}/:id`,
      {
        config: READ,
        schema: { ...shared, operationId: `get${resource}`, summary: summaries.read },
      },
      async (request) => {
        const { accountId } = callerOf(request);
        return present(await errorGroups.get(accountId, kind, request.params.id));
      },
    );

    app.patch<OfOne>(
      `${path}/:id`,
      {
        config: CONDITIONAL,
        schema: {
          ...shared,
          operationId: `update${resource}`,
          summary: summaries.archive,
          description:
            'archivedUntilNextEvent: true archives the group until a later run fails with the same message. archiveForEver: true archives it for ever; its archivedUntilNextEvent is true from then on. Either with false unarchives it.',
          body: changes,
        },
      },
      async (request) => {
        const { accountId } = callerOf(request);
        const { archiveForEver, archivedUntilNextEvent } = request.body;
        const given = { archiveForEver, archivedUntilNextEvent };
        const required = preconditionOf(request, present);
        return present(
          await errorGroups.update(accountId, kind, request.params.id, given, required),
        );
      },
    );
  };
}
