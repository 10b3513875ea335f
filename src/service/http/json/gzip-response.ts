import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { constants, createGzip, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

const compress = promisify(gzip);
/** Shorter answers fit into a packet or two. */
const MIN_CHARS = 2_000;
const LEVEL = { level: constants.Z_BEST_SPEED } as const;

/**
 * The `onSend` hook of a route with large answers: compresses them off the event loop for clients that
 * accept gzip (RFC 9110 12.5.3).
 */
export async function gzipResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  const isStream = payload instanceof Readable;
  if (!isStream && (typeof payload !== 'string' || payload.length < MIN_CHARS)) return payload;
  reply.header('vary', 'accept-encoding');
  if (!acceptsGzip(request)) return payload;
  reply.header('content-encoding', 'gzip');
  if (!isStream) return compress(payload, LEVEL);
  reply.removeHeader('content-length');
  return payload.pipe(createGzip(LEVEL));
}

export function acceptsGzip({ headers }: FastifyRequest): boolean {
  const codings = [headers['accept-encoding'] ?? []].flat().join(',').toLowerCase().split(',');
  return codings.some((coding) => {
    const [name, ...parameters] = coding.split(';').map((part) => part.trim());
    return name === 'gzip' && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}
