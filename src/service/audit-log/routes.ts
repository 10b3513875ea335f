import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { callerOf } from '../http/access/authentication.ts';
import { pageOf } from '../http/resources/cursor-paging.ts';
import { pageQuery } from '../http/resources/parameters.ts';
import { numberIdOf } from '../http/resources/shown-fields.ts';
import { parseWindow, windowQuery } from '../http/resources/window-parameters.ts';
import type { AuditEntry, AuditLog } from './audit-log.ts';
import { ACTOR_KINDS, AUDIT_ACTIONS, AUDIT_KINDS } from './kinds.ts';

const action = z.enum(AUDIT_ACTIONS).describe('What was done with the resource.');
const text = z.string().min(1).max(400);
const query = z.strictObject({
  ...pageQuery,
  from: windowQuery.from.describe(
    'UNIX timestamp in seconds (or milliseconds), inclusive. Default: no limit.',
  ),
  to: windowQuery.to.describe(
    'UNIX timestamp in seconds (or milliseconds), exclusive. Default: no limit.',
  ),
  actor: text.optional().describe('The id of a user or key, or its name at the time.'),
  kind: z.enum(AUDIT_KINDS).optional().describe('The kind of the resource.'),
  resourceId: text.optional().describe('The id of the resource.'),
  action: action.optional().describe('Only entries with this action.'),
});
const change = z
  .strictObject({
    field: z.string().describe('With dots for fields of objects, as in `request.url`.'),
    before: z.unknown().optional().describe('Left out where there was no value.'),
    after: z.unknown().optional().describe('Omitted if there is no value after the change.'),
  })
  .meta({ title: 'AuditChange' });
const response = z
  .strictObject({
    id: numberIdOf('the entry'),
    at: z.iso.datetime().describe('When it was done.'),
    actor: z
      .strictObject({
        kind: z
          .enum(ACTOR_KINDS)
          .describe(
            '`channel` is anyone who used the link in a message to an alert channel, `operator` a command on the machine of the service or the link of `vedette up`, `setup` the setup link of the service.',
          ),
        id: z.string().nullable().describe('The id of the user, key or channel; null for others.'),
        name: z
          .string()
          .nullable()
          .describe('The email of the user, or the name of the key or channel.'),
      })
      .describe('Who did it.'),
    address: z.string().nullable().describe('The IP address; null for a command.'),
    action,
    kind: z.enum(AUDIT_KINDS).describe('The kind of the resource.'),
    resourceId: z.string().nullable().describe('The id of the resource; null if it has none.'),
    resourceName: z
      .string()
      .nullable()
      .describe('The name of the resource at the time; null if it has none.'),
    changes: z.array(change).describe('Without secrets. A long value ends with `… (cut)`.'),
    droppedChanges: z.number().describe('Changed fields that are left out of a long entry.'),
    count: z
      .number()
      .describe('How often it happened: failed sign-ins of 15 minutes are one entry.'),
  })
  .meta({ title: 'AuditEntry' });

/** Who changed what: src/service/README.md, "Audit log". */
export function auditLogRoutes({ auditLog }: { readonly auditLog: AuditLog }): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();
    app.get(
      '/v1/audit-log',
      {
        config: { role: 'admin' },
        schema: {
          operationId: 'listAuditLog',
          tags: ['Audit log'],
          summary: 'List who changed what in the account, newest first',
          querystring: query,
          response: { 200: z.array(response) },
        },
      },
      async (request, reply) => {
        const { actor = null, kind = null, resourceId = null, action = null } = request.query;
        const filter = { actor, kind, resourceId, action, ...parseWindow(request.query) };
        const { accountId } = callerOf(request);
        const found = await auditLog.list(accountId, { ...pageOf(request, reply), ...filter });
        return found.map(present);
      },
    );
  };
}

function present(entry: AuditEntry): z.output<typeof response> {
  const { at, actorKind, actorId, actorName, changes, dropped, kind, ...rest } = entry;
  return {
    ...rest,
    at: at.toISOString(),
    actor: { kind: actorKind, id: actorId, name: actorName },
    kind: kind as z.output<typeof response>['kind'],
    changes: [...changes],
    droppedChanges: dropped,
  };
}
