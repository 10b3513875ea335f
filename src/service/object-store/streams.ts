import { addAbortSignal, type Readable, Transform } from 'node:stream';
import { chunksOf } from './chunks.ts';
import { ArtifactError } from './errors.ts';

function wrongLength(expectedBytes: number, receivedBytes: number, cause?: unknown): ArtifactError {
  const over = receivedBytes > expectedBytes;
  const message = over
    ? `The part is longer than its ${expectedBytes} bytes`
    : `The part ended after ${receivedBytes} of its ${expectedBytes} bytes; send it again`;
  const attributes = { expectedBytes, receivedBytes };
  return new ArtifactError('ARTIFACT_PART_LENGTH', message, attributes, { cause });
}

/**
 * To be called before anything else is waited for: a source that breaks while nobody listens ends
 * the process. `exactly` tells of it later.
 */
export function expectErrors(source: Readable): void {
  source.on('error', () => {});
}

/**
 * The chunks of a source that must hold exactly `expectedBytes`; throws ARTIFACT_PART_LENGTH where
 * it ends early, breaks or runs over. The last chunk is held back until the source has ended, so
 * that nobody takes the start of a longer part for a whole one. The source is left as it is when
 * the reader stops early, and destroyed when the signal aborts.
 */
export async function* exactly(
  source: Readable,
  expectedBytes: number,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  signal.throwIfAborted();
  addAbortSignal(signal, source);
  let receivedBytes = 0;
  let held: Buffer | null = null;
  try {
    for await (const chunk of chunksOf(source)) {
      receivedBytes += chunk.length;
      if (receivedBytes > expectedBytes) break;
      if (held !== null) yield held;
      held = chunk;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw wrongLength(expectedBytes, receivedBytes, error);
  }
  if (receivedBytes !== expectedBytes) throw wrongLength(expectedBytes, receivedBytes);
  if (held !== null) yield held;
}

/**
 * What a reader of stored content gets: exactly `expectedBytes`, or an error. A source that ends
 * early is ARTIFACT_DAMAGED rather than a short file that looks whole.
 */
export function guardStored(
  source: Readable,
  expectedBytes: number,
  signal: AbortSignal,
  toError: (thrown: unknown) => unknown,
): Readable {
  let leftBytes = expectedBytes;
  const guard = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      leftBytes -= chunk.length;
      done(leftBytes < 0 ? damaged(expectedBytes) : null, chunk);
    },
    flush(done) {
      done(leftBytes === 0 ? null : damaged(expectedBytes));
    },
  });
  source.once('error', (error) => guard.destroy(asError(toError(error))));
  source.once('close', () => {
    if (!source.readableEnded) guard.destroy(damaged(expectedBytes));
  });
  guard.once('close', () => source.destroy());
  return addAbortSignal(signal, source.pipe(guard));
}

function damaged(expectedBytes: number): ArtifactError {
  const message = `The stored artifact is not ${expectedBytes} bytes long as it was when it was stored`;
  return new ArtifactError('ARTIFACT_DAMAGED', message, { expectedBytes });
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
