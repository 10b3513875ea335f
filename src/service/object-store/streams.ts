import { addAbortSignal, finished, type Readable, Transform } from 'node:stream';
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
 * Prevents an error of the source from ending the process before a listener is added; `exactly` throws the
 * error later. Call it before the first await.
 */
export function expectErrors(source: Readable): void {
  source.on('error', () => {});
}

/**
 * Yields the chunks of a source that must have exactly `expectedBytes`; throws ARTIFACT_PART_LENGTH if it ends
 * early, fails or is longer. Delays the last chunk until the source has ended, so that the start of a longer
 * part is never mistaken for a whole part. Leaves the source open when the reader stops early, and destroys it
 * when the signal aborts.
 */
export async function* exactly(
  source: Readable,
  expectedBytes: number,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  signal.throwIfAborted();
  addAbortSignal(signal, source);
  let receivedBytes = 0;
  let last: Buffer | null = null;
  try {
    for await (const chunk of chunksOf(source)) {
      receivedBytes += chunk.length;
      if (receivedBytes > expectedBytes) break;
      if (last !== null) yield last;
      last = chunk;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw wrongLength(expectedBytes, receivedBytes, error);
  }
  if (receivedBytes !== expectedBytes) throw wrongLength(expectedBytes, receivedBytes);
  if (last !== null) yield last;
}

/**
 * A stream of exactly `expectedBytes` of stored content, or an error. A source that ends early is
 * ARTIFACT_DAMAGED, not a short file that looks complete.
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

/**
 * Yields the chunks of a stream one by one. The iterator of a stream joins waiting chunks into a new one: it
 * copies nearly every byte of a fast source, and the copies stay in memory until the next garbage collection.
 * Throws the error of the source, including its destruction before the end. When the reader stops early, leaves
 * the source paused, neither ended nor destroyed.
 */
export async function* chunksOf(source: Readable): AsyncGenerator<Buffer, void, undefined> {
  const waiting: Buffer[] = [];
  const ending: { over: boolean; error: Error | null } = { over: false, error: null };
  let wake = (): void => {};
  const onData = (chunk: Buffer): void => {
    source.pause();
    waiting.push(chunk);
    wake();
  };
  const stopWatching = finished(source, { writable: false }, (error) => {
    ending.over = true;
    ending.error = error ?? null;
    wake();
  });
  source.on('data', onData);
  try {
    for (;;) {
      const chunk = waiting.shift();
      if (chunk !== undefined) {
        yield chunk;
      } else if (ending.over) {
        break;
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
          source.resume();
        });
      }
    }
    if (ending.error !== null) throw ending.error;
  } finally {
    stopWatching();
    source.off('data', onData);
    source.pause();
  }
}
