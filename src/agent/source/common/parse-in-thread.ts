import { Worker } from 'node:worker_threads';
import { systemCodeOf, VedetteError } from '../../../runtime/errors.ts';

export interface ThreadWork {
  /** The name of the file, for messages. */
  readonly file: string;
  /** The code of the error for a text that needs more memory than there is. */
  readonly tooLargeCode: string;
  /** Ends the thread when it aborts; null if nothing ends it. */
  readonly signal: AbortSignal | null;
}

/**
 * Starts a worker thread with a job as its start message, and returns its only reply. Parsing a
 * long text on the main thread would falsify the times of checks.
 *
 * @param workerUrl the compiled worker
 * @throws the signal's reason; VedetteError of kind `input` if the text needs more memory than
 *   there is
 */
export async function parseInThread<Reply>(
  workerUrl: URL,
  job: object,
  { file, tooLargeCode, signal }: ThreadWork,
): Promise<Reply> {
  signal?.throwIfAborted();
  const worker = new Worker(workerUrl, { workerData: job });
  const onAbort = (): void => void worker.terminate();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await new Promise<Reply>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('messageerror', reject);
      worker.once('error', (thrown) => {
        const isOutOfMemory = systemCodeOf(thrown) === 'ERR_WORKER_OUT_OF_MEMORY';
        const message = `${file}: reading it takes more memory than this process may use; split it, or allow more with NODE_OPTIONS=--max-old-space-size=MEGABYTES`;
        reject(isOutOfMemory ? new VedetteError('input', tooLargeCode, message) : thrown);
      });
      worker.once('exit', () =>
        reject(new VedetteError('internal', 'PARSER_ENDED', `${file}: its parser ended early`)),
      );
    });
  } finally {
    signal?.removeEventListener('abort', onAbort);
    await worker.terminate();
    signal?.throwIfAborted();
  }
}
