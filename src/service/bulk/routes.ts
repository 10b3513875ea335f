import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { callerOf, requireRole } from '../http/access/authentication.ts';
import { whileClientWaits } from '../http/request-signal.ts';
import { CHECK_TAGS } from '../http/resources/check-parameters.ts';
import { bulkBody, bulkResponse } from './body.ts';
import type { BulkChecks } from './bulk-checks.ts';

/** The role for the action `run`; the other actions need `write`. */
const LEAST = { role: 'run' } as const;

/** Many checks in one request: src/service/README.md, "Many checks at once". */
export function bulkChecksRoutes({
  bulkChecks,
  stopping,
}: {
  readonly bulkChecks: BulkChecks;
  /** Aborts when the service stops. */
  readonly stopping: AbortSignal;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.post(
      '/v1/checks/bulk',
      {
        config: LEAST,
        schema: {
          tags: CHECK_TAGS,
          operationId: 'bulkChangeChecks',
          summary: 'Create, update, delete, mute, pause or run many checks',
          description:
            'Each check is written separately and has its own result, with the status and the error that a request for this check alone would get: some may fail while others succeed. All actions except `run` need the role `write`. Groups have no bulk requests: change their checks by the filter `groupId`.',
          body: bulkBody,
          response: { 200: bulkResponse.describe('The outcome for each check.') },
        },
      },
      async (request, reply) => {
        const { body } = request;
        if (body.action !== 'run') requireRole(request, 'write');
        const { accountId } = callerOf(request);
        const errorOf = (thrown: unknown) => app.answerTo(thrown, request);
        const results = await whileClientWaits(reply, stopping, (signal) =>
          bulkChecks.run(accountId, body, { errorOf, signal }),
        );
        const failed = results.filter(({ error }) => error !== undefined).length;
        const total = results.length;
        const counts = { total, succeeded: total - failed, failed };
        return { dryRun: body.dryRun, counts, results: [...results] };
      },
    );
  };
}
