import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { routeAccess } from '../access/route-access.ts';
import { isStreamed } from '../json/json-response.ts';
import { ListInSlices } from '../json/list-in-slices.ts';
import { etagOf, isListed } from '../resources/etag.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route checks If-Match and If-None-Match with `preconditionOf`. Its response has an ETag. */
    conditional?: true;
    /** The response shows the resource that the request creates, with its ETag. */
    creates?: true;
  }
}

const READS = ['GET', 'HEAD'];

/**
 * Adds ETags to responses that show one resource, and answers with 304 if the client already has the current
 * version (RFC 9110 13.1.2). Refuses preconditions for routes that would ignore them.
 */
export function addEtags(app: FastifyInstance): void {
  app.addHook('preValidation', async ({ method, headers, routeOptions: { config } }) => {
    const isChecked = READS.includes(method) || config.conditional === true;
    if (!READS.includes(method) && config.conditional === true) refuseMalformed(headers);
    if (isChecked || routeAccess(config).kind !== 'role') return;
    const [given] = ['If-Match', 'If-None-Match'].filter(
      (name) => headers[name.toLowerCase()] !== undefined,
    );
    if (given === undefined) return;
    throw new ServiceError(400, `${given} has no meaning for this request: send it without`, {
      attributes: { header: given },
    });
  });
  app.addHook('preSerialization', async (request, reply, payload) => {
    if (showsOneResource(request, reply, payload)) reply.header('etag', etagOf(payload));
    return payload;
  });
  app.addHook('onSend', async (request, reply, payload) => {
    const etag = reply.getHeader('etag');
    const known = request.headers['if-none-match'];
    const isRead = READS.includes(request.method) && reply.statusCode === 200;
    if (!isRead || known === undefined || typeof etag !== 'string' || !isListed(known, etag)) {
      return payload;
    }
    if (payload instanceof Readable) payload.destroy();
    // Weak like the stored one: the validator of a compressed response is weak (RFC 9111 4.3.4).
    const weak = `W/${etag}`;
    if (known.split(',').some((one) => one.trim() === weak)) reply.header('etag', weak);
    reply.code(304).removeHeader('content-type').removeHeader('content-length');
    return null;
  });
}

/** RFC 9110 8.8.3: `*`, or validators with their quotation marks, of which each may be weak. */
const CONDITION = /^\s*(?:\*|(?:W\/)?"[^"]*"(?:\s*,\s*(?:W\/)?"[^"]*")*)\s*$/;

/** Refuses ETags without quotation marks: they match nothing, so the client would read the resource again forever. */
function refuseMalformed(headers: FastifyRequest['headers']): void {
  for (const name of ['If-Match', 'If-None-Match'] as const) {
    const given = headers[name.toLowerCase()];
    if (given === undefined || CONDITION.test(String(given))) continue;
    throw new ServiceError(
      400,
      `${name} must be * or the ETag of a response with its quotation marks, such as "Oc8aWDpf6e9TwoqkXV6BCl"`,
      { attributes: { header: name } },
    );
  }
}

function showsOneResource(
  { method, routeOptions: { config, schema } }: FastifyRequest,
  { statusCode }: FastifyReply,
  payload: unknown,
): boolean {
  if (routeAccess(config).kind !== 'role' || statusCode < 200 || statusCode > 299) return false;
  if (statusCode === 204) return false;
  if (Array.isArray(payload) || payload instanceof ListInSlices) return false;
  const declared: unknown = Object(schema?.response)[statusCode];
  // A long response is a report, not a resource; hashing it would block other requests.
  if (!(declared instanceof z.ZodType) || isStreamed(declared, payload)) return false;
  const isRead = READS.includes(method) && statusCode === 200;
  return isRead || config.conditional === true || config.creates === true;
}
