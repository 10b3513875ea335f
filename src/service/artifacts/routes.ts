import type { FastifyPluginAsync, FastifyReply } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { CHECK_ID } from '../../model/ids.ts';
import { id as wireId } from '../../wire/v1/fields.ts';
import { callerOf, keyOf } from '../http/access/authentication.ts';
import { clientGoneSignal } from '../http/request-signal.ts';
import { uuidParam } from '../http/resources/parameters.ts';
import { createdAt, idOf, SHOWN_CHECK } from '../http/resources/shown-fields.ts';
import { parseRangeHeader } from '../object-store/byte-range.ts';
import type { Artifact, Artifacts } from './artifacts.ts';

const TAGS = ['Artifacts'];
const READ = { role: 'read' } as const;
const PATH = '/v1/artifacts';
/** The content, of the type that the agent sent. */
const FILE = { '*/*': { schema: z.unknown() } };

const response = z.strictObject({
  id: idOf('the artifact'),
  checkId: SHOWN_CHECK.checkId,
  resultId: idOf('the result'),
  name: z.string().describe('A plain file name.'),
  contentType: z.string().describe('The type of the content, as the agent sent it.'),
  bytes: z.number().describe('The size of the content.'),
  sha256: z.string().describe('The digest of the content, in hex.'),
  url: z.string().describe('The URL of the content, as in jobAssets of the result.'),
  created_at: createdAt,
});
const params = z.object({ id: uuidParam });

/** Users list and download here what agents uploaded to results. */
export function artifactsRoutes(features: {
  readonly artifacts: Pick<Artifacts, 'list' | 'read' | 'open'>;
}): FastifyPluginAsync {
  const { artifacts } = features;
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.get(
      '/v1/check-results/:checkId/:resultId/artifacts',
      {
        config: READ,
        schema: {
          tags: TAGS,
          operationId: 'listArtifacts',
          summary: 'List the artifacts of a check result, by name',
          description:
            'Lists what agents of its location uploaded; empty until the result is stored.',
          params: z.object({
            checkId: z.string().regex(CHECK_ID).describe('The id of the check.'),
            resultId: wireId.describe('The id of the result.'),
          }),
          response: { 200: z.array(response) },
        },
      },
      async (request) => {
        const { checkId, resultId } = request.params;
        const found = await artifacts.list(callerOf(request).accountId, checkId, resultId);
        return found.map(present);
      },
    );

    app.head(
      `${PATH}/:id`,
      { config: READ, schema: { tags: TAGS, summary: 'Read the headers of an artifact', params } },
      async (request, reply) => {
        const artifact = await artifacts.read(keyOf(request));
        describe(reply, artifact);
        if (isKnown(request.headers['if-none-match'], artifact)) return reply.code(304).send();
        return reply.header('content-length', artifact.bytes).send();
      },
    );

    app.get(
      `${PATH}/:id`,
      {
        config: READ,
        exposeHeadRoute: false,
        schema: {
          tags: TAGS,
          operationId: 'downloadArtifact',
          summary: 'Download an artifact',
          description:
            'The file as uploaded; 404 until its result is stored. Supports If-None-Match, and Range (one range) with If-Range.',
          params,
          response: {
            200: { description: 'The whole file.', content: FILE },
            206: { description: 'The requested range.', content: FILE },
            304: z.undefined().describe('Not modified; no body.'),
          },
        },
      },
      async (request, reply) => {
        const { headers } = request;
        const key = keyOf(request);
        const artifact = await artifacts.read(key);
        if (isKnown(headers['if-none-match'], artifact)) {
          describe(reply, artifact);
          return reply.code(304).send();
        }
        const range = isSame(headers['if-range'], artifact)
          ? parseRangeHeader(headers.range)
          : null;
        const opened = await artifacts.open(key, range, clientGoneSignal(reply));
        const { first, last, stream } = opened;
        describe(reply, artifact);
        reply.header('content-length', last - first + 1);
        if (range !== null) {
          reply.code(206).header('content-range', `bytes ${first}-${last}/${artifact.bytes}`);
        }
        return reply.send(stream);
      },
    );
  };
}

/** The content of an artifact never changes: its digest is a strong validator (RFC 9110 8.8.1). */
function etagOf({ sha256 }: Artifact): string {
  return `"${sha256}"`;
}

/** RFC 9110 13.1.5: another validator, or a date, of which responses have none, gets the whole file. */
function isSame(ifRange: string | string[] | undefined, artifact: Artifact): boolean {
  return ifRange === undefined || ifRange === etagOf(artifact);
}

/** RFC 9110 13.1.2, by weak comparison. */
function isKnown(ifNoneMatch: string | undefined, artifact: Artifact): boolean {
  if (ifNoneMatch?.trim() === '*') return true;
  const tags = ifNoneMatch?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
  return tags.includes(etagOf(artifact));
}

/**
 * The agent chose the type, and the content may be a page that a target sent: browsers must neither
 * display it inline nor run scripts in it.
 */
function describe(reply: FastifyReply, artifact: Artifact): void {
  reply.headers({
    'accept-ranges': 'bytes',
    'content-disposition': `attachment; filename="${artifact.name}"`,
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    'content-type': artifact.contentType,
    etag: etagOf(artifact),
  });
}

function present({ accountId: _, createdAt, ...artifact }: Artifact): z.output<typeof response> {
  return { ...artifact, url: `${PATH}/${artifact.id}`, created_at: createdAt.toISOString() };
}
