import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ServiceError, tooLarge, unsupportedMedia } from '../../errors.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Accepts bodies with `content-encoding: gzip`; bodyLimit applies to the uncompressed body. */
    gzip?: true;
  }
}

const IDENTITY = 'identity';
/** RFC 9110 8.4.1.3: x-gzip is the same. */
const GZIP: readonly string[] = ['gzip', 'x-gzip'];
const PLAIN = 'the body without an encoding';

/**
 * Handles content encodings of requests (RFC 9110 8.4): gzip for routes that accept it, none for others. Refuses
 * other encodings before any byte of the body is read.
 */
export function addBodyEncodings(app: FastifyInstance): void {
  app.addHook('onRequest', async (request) => {
    if (request.is404 || encodingOf(request) === IDENTITY) return;
    if (!takesGzip(request))
      throw unsupportedMedia('Encoded bodies are not accepted here', [PLAIN]);
    if (!GZIP.includes(encodingOf(request))) {
      throw unsupportedMedia('No other encoding is accepted here', ['gzip', PLAIN]);
    }
  });
  app.addHook('preParsing', async (request, _reply, payload) =>
    takesGzip(request) && GZIP.includes(encodingOf(request))
      ? unpacked(payload, request.routeOptions.bodyLimit)
      : payload,
  );
}

function encodingOf({ headers }: FastifyRequest): string {
  return headers['content-encoding']?.trim().toLowerCase() ?? IDENTITY;
}

function takesGzip({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.config.gzip === true;
}

/**
 * Decompresses `packed` to a stream with the length that Fastify compares to Content-Length. Fails with a
 * ServiceError: 413 as soon as there are more than `limitBytes`, 400 if it is not gzip or is truncated. Buffers a
 * few chunks at most, and leaves `packed` open, so that the response can still be sent.
 */
function unpacked(packed: Readable, limitBytes: number): Readable {
  let packedBytes = 0;
  const gunzip = createGunzip();
  const count = (chunk: Buffer): void => {
    packedBytes += chunk.length;
  };
  const onCut = (): void => {
    if (!packed.readableEnded) gunzip.destroy(new Error('The body ended early'));
  };
  async function* chunks(): AsyncGenerator<Buffer> {
    let bytes = 0;
    packed.on('data', count).once('close', onCut).once('error', onCut).pipe(gunzip);
    try {
      for await (const chunk of gunzip as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > limitBytes) throw tooLarge('The decompressed body', limitBytes);
        yield chunk;
      }
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      throw new ServiceError(400, 'The body is not valid gzip to its end', { cause: error });
    } finally {
      packed.off('data', count).off('close', onCut).off('error', onCut).unpipe(gunzip);
      gunzip.destroy();
    }
  }
  const stream = Readable.from(chunks(), { objectMode: false });
  return Object.defineProperty(stream, 'receivedEncodedLength', { get: () => packedBytes });
}
