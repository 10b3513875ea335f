import { stableId } from '../../model/ids.ts';
import type { CheckResult, MissedSlots } from '../../model/result.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { ResultSink } from '../output/result-sink.ts';
import type { Spool, SpoolKind } from './spool.ts';

export interface SpoolSinkOptions {
  readonly spool: Spool;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Puts results into the spool, each as the JSON that goes to the service. A result's id is the
 * same for the same attempt of the same run, so one that is told twice is kept once.
 */
export class SpoolSink implements ResultSink {
  readonly #options: SpoolSinkOptions;

  constructor(options: SpoolSinkOptions) {
    this.#options = options;
  }

  result(result: CheckResult): void {
    this.#put(result.resultType === 'ATTEMPT' ? 'attempt' : 'result', result.id, result);
  }

  missed(missed: MissedSlots): void {
    const { checkId, slot, lastSlot, reason } = missed;
    this.#put('missed', stableId('missed', checkId, slot, lastSlot, reason), missed);
  }

  /** Resolves when all is on disk, which is as far as it must be: the next start sends it. */
  async flush(signal: AbortSignal): Promise<void> {
    const { spool, log } = this.#options;
    const isOnDisk = await isInTime(spool.committed(), signal);
    const { records } = spool.depth;
    if (records === 0 || (isOnDisk && spool.state !== 'memory')) return;
    log.warn({ records }, 'results wait that are not all on disk');
  }

  #put(kind: SpoolKind, id: string, value: unknown): void {
    const { spool, clock, log } = this.#options;
    let json: string;
    try {
      json = JSON.stringify(value);
    } catch (error) {
      log.error({ err: error, kind: 'internal' }, 'a result cannot be written');
      return;
    }
    spool.put({ kind, id, atMs: clock.wallMs(), body: Buffer.from(json) });
  }
}

/** Whether the promise resolves before the signal aborts. */
function isInTime(promise: Promise<void>, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => resolve(false);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    promise
      .then(() => resolve(true), reject)
      .finally(() => signal.removeEventListener('abort', onAbort));
  });
}
