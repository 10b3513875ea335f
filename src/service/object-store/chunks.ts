import { finished, type Readable } from 'node:stream';

/**
 * The chunks of a stream as they come, one at a time. A stream's own iterator joins the chunks that
 * wait into a new one instead: that copies nearly every byte of a fast source, and all those copies
 * lie about until the next collection. Throws what the source breaks with, also where it is
 * destroyed before its end. A source that is left early stays paused, neither ended nor destroyed.
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
  const forget = finished(source, { writable: false }, (error) => {
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
    forget();
    source.off('data', onData);
    source.pause();
  }
}
