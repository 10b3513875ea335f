import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { acceptedCoding, addVary, type Coding } from '../content-coding.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Disables compression: the response contains a secret together with text from the request, and its length
     * would leak the secret (BREACH attack).
     */
    uncompressed?: true;
  }
}

/** Shorter responses fit into one packet. */
const MIN_BYTES = 1_024;
const COMPRESSIBLE =
  /^(text\/(?!event-stream)|application\/(json|javascript|xml|[\w.-]+\+(json|xml))\b|image\/svg\+xml)/;
const UNCHANGEABLE = ['content-encoding', 'content-range', 'accept-ranges'] as const;

/** About as fast as gzip at its lowest level, with 10 % less output for JSON. */
const BROTLI_QUALITY = 4;
/** log2 of the window in bytes; bounds the memory for each response that is being compressed. */
const BROTLI_WINDOW = 19;
const BROTLI = {
  params: {
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
    [constants.BROTLI_PARAM_LGWIN]: BROTLI_WINDOW,
  },
} as const;
const GZIP = { level: constants.Z_BEST_SPEED } as const;

const brotli = promisify(brotliCompress);
const gzipped = promisify(gzip);

/**
 * Compresses responses in other threads for clients that accept it. Excludes event streams, artifacts and other
 * responses with ranges, and responses with secrets. Must be added after hooks that store or compare responses.
 */
export function addCompression(app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply, payload) => {
    if (!isCompressible(request, reply, payload)) return payload;
    addVary(reply, 'accept-encoding');
    const coding = acceptedCoding(request.headers);
    if (coding === null) return payload;
    reply.header('content-encoding', coding).removeHeader('content-length');
    // A weak validator: the compressed bytes differ, but the content is the same (RFC 9110 8.8.1).
    const etag = reply.getHeader('etag');
    if (typeof etag === 'string' && !etag.startsWith('W/')) reply.header('etag', `W/${etag}`);
    return payload instanceof Readable
      ? streamed(payload, coding)
      : await compressed(Buffer.from(payload), coding);
  });
}

type Body = string | Uint8Array | Readable;

function isCompressible(
  { routeOptions: { config } }: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): payload is Body {
  if (config.uncompressed === true || config.showsSecret === true) return false;
  if (UNCHANGEABLE.some((name) => reply.hasHeader(name))) return false;
  if (!COMPRESSIBLE.test(String(reply.getHeader('content-type') ?? ''))) return false;
  if (payload instanceof Readable) return true;
  const isBytes = typeof payload === 'string' || payload instanceof Uint8Array;
  return isBytes && Buffer.byteLength(payload) >= MIN_BYTES;
}

function compressed(bytes: Buffer, coding: Coding): Promise<Buffer> {
  return coding === 'br' ? brotli(bytes, BROTLI) : gzipped(bytes, GZIP);
}

/** Compresses a stream. When the client disconnects, stops reading the source. */
function streamed(source: Readable, coding: Coding): Readable {
  const encoder = coding === 'br' ? createBrotliCompress(BROTLI) : createGzip(GZIP);
  // Errors are ignored here: Fastify handles those of the encoder, and the source handles its own.
  return pipeline(source, encoder, () => {});
}
