import type { Readable } from 'node:stream';
import type { FastifyPluginAsync, FastifyReply } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import {
  MAX_SESSION_MISSED,
  MAX_SESSION_REQUEST_BYTES,
  MAX_SESSION_REQUEST_RESULTS,
  projectIdSchema,
  testSessionFactsSchema,
} from '../../model/result/test-session.ts';
import { callerOf, keyOf } from '../http/access/authentication.ts';
import { READ, WRITE } from '../http/access/route-roles.ts';
import { listResponse } from '../http/json/json-response.ts';
import { pageOf } from '../http/resources/cursor-paging.ts';
import { booleanQuery, NO_CONTENT, pageQuery, uuidParam } from '../http/resources/parameters.ts';
import { createdAt, idOf } from '../http/resources/shown-fields.ts';
import { shownResult } from '../results/result-schemas.ts';
import { missedRunSchema } from './read-report.ts';
import type { StoredTestSession, TestSessions } from './test-sessions.ts';

const TAGS = ['Test sessions'];
const RUN = { role: 'run' } as const;
const PATH = '/v1/test-sessions';

const params = z.object({ id: uuidParam.toLowerCase() });
// readReport judges them one by one, as thousands at once take long.
const { $schema: _, ...missedRunForm } = z.toJSONSchema(missedRunSchema, { io: 'input' });
const body = testSessionFactsSchema.extend({
  id: z
    .guid()
    .toLowerCase()
    .optional()
    .describe(
      'Chosen by you, to repeat a request without effect, and to add further results. If omitted, a new one.',
    ),
  results: z
    .array(z.unknown())
    .max(MAX_SESSION_REQUEST_RESULTS)
    .default([])
    .describe(
      'The result objects that `vedette run --output json` prints, one on each line, as in GET /v1/check-results.',
    ),
  missed: z
    .array(z.unknown())
    .max(MAX_SESSION_MISSED)
    .default([])
    .meta({ items: missedRunForm })
    .describe('The `missed` objects that it prints: slots without a run.'),
});

const count = z.int().min(0);
const response = z.strictObject({
  id: idOf('the session'),
  link: z.string().describe('The path of the session in this API.'),
  ...Object.fromEntries(
    Object.entries(testSessionFactsSchema.shape).map(([name, field]) => [
      name,
      field.unwrap().describe(field.description ?? ''),
    ]),
  ),
  hasFailures: z
    .boolean()
    .describe('Whether any run failed, had an error, was cancelled or was missed.'),
  counts: z
    .strictObject({
      passed: count.describe('Runs that passed and were not degraded.'),
      degraded: count.describe('Runs that passed but were degraded.'),
      failed: count.describe('Runs that failed.'),
      error: count.describe('Runs without a verdict, by a fault outside the target.'),
      cancelled: count.describe('Runs that were cancelled.'),
      missed: count.describe('Slots without a run.'),
    })
    .describe('Runs by their outcome.'),
  results: count.describe('All results, including attempts before a retry.'),
  missed: z.array(missedRunSchema).describe('The slots without a run.'),
  errorGroupIds: z.array(z.string()).describe('Of all its results, at most 1000.'),
  startedAt: z.iso
    .datetime()
    .nullable()
    .describe('When the first of its results began; null without a result.'),
  stoppedAt: z.iso
    .datetime()
    .nullable()
    .describe('When the last of its results ended; null without a result.'),
  created_at: createdAt,
  updated_at: z.iso.datetime().nullable().describe('When results were last added; null for never.'),
});

/** Runs of check files outside the service, as `vedette run --report` sends them. */
export function testSessionsRoutes({
  testSessions,
}: {
  readonly testSessions: TestSessions;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.post(
      PATH,
      {
        config: {
          ...RUN,
          gzip: true,
          manyValues: true,
          audit: { none: 'a test session is a report of results' },
        },
        bodyLimit: MAX_SESSION_REQUEST_BYTES,
        schema: {
          tags: TAGS,
          operationId: 'createTestSession',
          summary: 'Create a test session, or add results to one',
          description:
            'Stores all results of the request, or none. 201 for a new session. 200 for the id of an existing one: adds its new results, and does not change its other fields. Accepts content-encoding gzip.',
          body,
          response: { 200: response, 201: response },
        },
      },
      async (request, reply) => {
        const { id = null, results, missed, ...facts } = request.body;
        const report = { id, facts, results, missed };
        const { session, isNew } = await testSessions.add(callerOf(request).accountId, report);
        if (isNew) reply.code(201).header('location', `${PATH}/${session.id}`);
        return reply.send(present(session));
      },
    );

    app.get(
      PATH,
      {
        config: READ,
        schema: {
          tags: TAGS,
          operationId: 'listTestSessions',
          summary: 'List test sessions, newest first',
          querystring: z.strictObject({ ...pageQuery, projectId: projectIdSchema.optional() }),
          response: { 200: z.array(response) },
        },
      },
      async (request, reply) => {
        const { projectId = null } = request.query;
        const page = pageOf(request, reply);
        const { accountId } = callerOf(request);
        return (await testSessions.list(accountId, { projectId, ...page })).map(present);
      },
    );

    app.get(
      `${PATH}/:id`,
      {
        config: READ,
        schema: {
          tags: TAGS,
          operationId: 'getTestSession',
          summary: 'Read a test session',
          params,
          response: { 200: response },
        },
      },
      async (request) => present(await testSessions.get(keyOf(request))),
    );

    app.get(
      `${PATH}/:id/results`,
      {
        config: READ,
        schema: {
          tags: TAGS,
          operationId: 'listTestSessionResults',
          summary: 'List the results of a test session in the order in which the runs began',
          params,
          querystring: z.strictObject({
            ...pageQuery,
            resultType: z
              .enum(['FINAL', 'ATTEMPT', 'ALL'])
              .default('FINAL')
              .describe('The last result of each run, those before it, or all; if omitted, FINAL.'),
            hasFailures: booleanQuery(false)
              .unwrap()
              .optional()
              .describe('true: only results of failed runs; false: only of others.'),
          }),
          response: { 200: z.array(shownResult) },
        },
      },
      async (request, reply) => {
        const { hasFailures = null, resultType } = request.query;
        const asked = { resultType, hasFailures, ...pageOf(request, reply) };
        const found = await testSessions.results(keyOf(request), asked);
        return sendJson(reply, listResponse(reply, found));
      },
    );

    app.delete(
      `${PATH}/:id`,
      {
        config: WRITE,
        schema: {
          tags: TAGS,
          operationId: 'deleteTestSession',
          summary: 'Delete a test session with its results; its error groups stay',
          params,
          response: { 204: NO_CONTENT },
        },
      },
      async (request, reply) => {
        await testSessions.remove(keyOf(request));
        return reply.code(204).send(null);
      },
    );
  };
}

/** Skips the response schema: the results were validated when they were stored. */
function sendJson(reply: FastifyReply, json: string | Readable): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(json);
}

function present(session: StoredTestSession): z.output<typeof response> {
  const { counts, missed } = session;
  const missedCount = missed.reduce((sum, run) => sum + run.count, 0);
  return {
    id: session.id,
    link: `${PATH}/${session.id}`,
    ...session.facts,
    hasFailures: counts.failed + counts.error + counts.cancelled + missedCount > 0,
    counts: { ...counts, missed: missedCount },
    results: session.results,
    missed: [...missed],
    errorGroupIds: [...session.errorGroupIds],
    startedAt: session.startedAt?.toISOString() ?? null,
    stoppedAt: session.stoppedAt?.toISOString() ?? null,
    created_at: session.createdAt.toISOString(),
    updated_at: session.updatedAt?.toISOString() ?? null,
  };
}
