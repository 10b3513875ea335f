import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { constants, createGzip, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

const pack = promisify(gzip);
/** Smaller ones fit into a packet or two anyway. */
const MIN_CHARS = 2_000;
const LEVEL = { level: constants.Z_BEST_SPEED } as const;

/**
 * For the `onSend` of a route with large answers: packs them for clients that take gzip (RFC 9110
 * 12.5.3), off the event loop.
 */
export async function gzipAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  const isStream = payload instanceof Readable;
  if (!isStream && (typeof payload !== 'string' || payload.length < MIN_CHARS)) return payload;
  reply.header('vary', 'accept-encoding');
  if (!takesGzip(request)) return payload;
  reply.header('content-encoding', 'gzip');
  if (!isStream) return pack(payload, LEVEL);
  reply.removeHeader('content-length');
  return payload.pipe(createGzip(LEVEL));
}

export function takesGzip({ headers }: FastifyRequest): boolean {
  const codings = [headers['accept-encoding'] ?? []].flat().join(',').toLowerCase().split(',');
  return codings.some((coding) => {
    const [name, ...parameters] = coding.split(';').map((part) => part.trim());
    return name === 'gzip' && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}
