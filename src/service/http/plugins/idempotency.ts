import { createHash, createHmac } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../../../runtime/logger.ts';
import { ServiceError } from '../../errors.ts';
import type { BegunRequest, Idempotency, KeptResponse } from '../../idempotency/idempotency.ts';
import { callerOf } from '../access/authentication.ts';
import { routeAccess } from '../access/route-access.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The response contains a secret that is shown only once. */
    showsSecret?: true;
  }
  interface FastifyRequest {
    /** null without an Idempotency-Key. */
    begun: BegunRequest | null;
  }
}

/** A UUID or other visible ASCII characters. */
const KEY = /^[!-~]{1,255}$/;

/**
 * Runs a POST with an Idempotency-Key once: a repeated request gets the first response again. Stores only
 * responses of successful requests; after a failed request, the client may use the key again.
 */
export function addIdempotency(
  app: FastifyInstance,
  { idempotency, log }: { readonly idempotency: Idempotency; readonly log: Logger },
): void {
  app.decorateRequest('begun', null);

  app.addHook('preValidation', async (request, reply) => {
    const { method, headers, routeOptions } = request;
    const given = headers['idempotency-key'];
    if (given === undefined || method !== 'POST') return;
    if (routeAccess(routeOptions.config).kind !== 'role') return;
    const key = String(given);
    if (!KEY.test(key)) {
      throw new ServiceError(
        400,
        'Idempotency-Key must be 1 to 255 visible ASCII characters, for example a UUID',
      );
    }
    const { accountId, by } = callerOf(request);
    const requestKey = { accountId, sender: `${by.kind}:${by.id}`, key: storedKeyOf(key) };
    const found = await idempotency.begin(requestKey, hashOf(request, key));
    if (found.kind === 'begun') request.begun = found.request;
    else return replay(reply, found.response);
  });

  app.addHook('onSend', async (request, reply, payload) => {
    const { begun } = request;
    if (begun === null) return payload;
    request.begun = null;
    const { statusCode: status } = reply;
    try {
      if (status >= 200 && status < 300) {
        await idempotency.complete(begun, {
          status,
          location: headerOf(reply, 'location'),
          etag: headerOf(reply, 'etag'),
          body: typeof payload === 'string' ? payload : null,
          hasSecret: request.routeOptions.config.showsSecret === true,
        });
      } else {
        await idempotency.release(begun);
      }
    } catch (err) {
      // The request has succeeded. Another with the same key gets 409 until this one counts as abandoned.
      log.warn({ err, requestId: request.id }, 'the response for an Idempotency-Key was not kept');
    }
    return payload;
  });
}

function headerOf(reply: FastifyReply, name: string): string | null {
  const value = reply.getHeader(name);
  return typeof value === 'string' ? value : null;
}

/** Only the hash of the key is stored; the key salts the hash of the body, which may contain a password. */
function storedKeyOf(key: string): string {
  return createHash('sha256').update(key).digest('base64url');
}

function hashOf({ method, url, body }: FastifyRequest, key: string): Buffer {
  return createHmac('sha256', key)
    .update(JSON.stringify([method, url, body ?? null]))
    .digest();
}

function replay(reply: FastifyReply, { status, location, etag, body }: KeptResponse): FastifyReply {
  if (location !== null) reply.header('location', location);
  if (etag !== null) reply.header('etag', etag);
  return reply
    .code(status)
    .header('idempotent-replayed', 'true')
    .type('application/json; charset=utf-8')
    .serializer((text: string) => text)
    .send(body);
}
