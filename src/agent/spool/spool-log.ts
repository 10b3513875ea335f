import type { Clock } from '../../runtime/clock.ts';
import { messageOf, systemCodeOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';

/** A disk that is full, has room and is full again makes one line in this time. */
const SAY_AGAIN_MS = 60_000;

type SpoolProblem = 'full' | 'slow' | 'failing';

/** Says what befalls the spool once, however many records it befalls. */
export class SpoolLog {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #saidMs = new Map<SpoolProblem, number>();

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  found(records: number, bytes: number): void {
    this.#log.info({ records, bytes }, 'the spool holds results from before');
  }

  full(maxBytes: number): void {
    if (!this.#isNews('full')) return;
    this.#log.warn(
      { maxBytes },
      'the spool is full: artifacts and the oldest attempts go first, then the oldest results (vedette_spool_dropped_total counts them)',
    );
  }

  slow(maxMemoryBytes: number): void {
    if (!this.#isNews('slow')) return;
    this.#log.warn(
      { maxMemoryBytes },
      'the disk of DATA_DIR is too slow for the results that come: the oldest are dropped (vedette_spool_dropped_total counts them)',
    );
  }

  failing(error: unknown, maxMemoryBytes: number): void {
    if (!this.#isNews('failing')) return;
    this.#log.error(
      { reason: messageOf(error), code: systemCodeOf(error), maxMemoryBytes },
      'the spool in DATA_DIR cannot be written: results wait in memory, as far as there is room, until it can (vedette_spool_dropped_total counts what is lost)',
    );
  }

  recovered(dropped: number): void {
    this.#log.info({ dropped }, 'the spool is written to disk again');
  }

  expired(records: number): void {
    this.#log.warn({ records }, 'results that waited for too long are dropped');
  }

  lost(records: number): void {
    this.#log.error({ records }, 'results could not be written to the spool before the end');
  }

  damaged(file: string): void {
    this.#log.error(
      { file },
      'the spool is damaged: what is whole in this file is used, and the file is moved aside when that is done',
    );
  }

  #isNews(trouble: SpoolProblem): boolean {
    const nowMs = this.#clock.monotonicMs();
    const saidMs = this.#saidMs.get(trouble) ?? Number.NEGATIVE_INFINITY;
    // As long as it goes on, it is not news.
    this.#saidMs.set(trouble, nowMs);
    return nowMs - saidMs >= SAY_AGAIN_MS;
  }
}
