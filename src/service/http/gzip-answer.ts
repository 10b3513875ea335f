import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

const pack = promisify(gzip);
/** Smaller ones fit into a packet or two anyway. */
const MIN_CHARS = 2_000;

/**
 * For the `onSend` of a route with large answers: packs them for clients that take gzip (RFC 9110
 * 12.5.3), off the event loop.
 */
export async function gzipAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  if (typeof payload !== 'string' || payload.length < MIN_CHARS) return payload;
  reply.header('vary', 'accept-encoding');
  if (!takesGzip(request.headers['accept-encoding'])) return payload;
  reply.header('content-encoding', 'gzip');
  return pack(payload, { level: constants.Z_BEST_SPEED });
}

function takesGzip(accepted: string | string[] | undefined): boolean {
  const codings = [accepted ?? []].flat().join(',').toLowerCase().split(',');
  return codings.some((coding) => {
    const [name, ...parameters] = coding.split(';').map((part) => part.trim());
    return name === 'gzip' && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}
