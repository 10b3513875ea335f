import type { Clock } from '../../runtime/clock.ts';
import { messageOf, systemCodeOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { ThrottledLog } from '../../runtime/throttled-log.ts';

/** Logs a problem of the spool once, however many records it affects. */
export class SpoolLog {
  readonly #log: Logger;
  readonly #throttled: ThrottledLog;

  constructor(clock: Clock, log: Logger) {
    this.#log = log;
    this.#throttled = new ThrottledLog(clock, log, { repeats: false });
  }

  found(records: number, bytes: number): void {
    this.#log.info({ records, bytes }, 'the spool contains results of an earlier process');
  }

  full(maxBytes: number): void {
    this.#throttled.warn(
      'full',
      { maxBytes },
      'the spool is full: artifacts and the oldest attempts go first, then the oldest results (vedette_spool_dropped_total counts them)',
    );
  }

  slow(maxMemoryBytes: number): void {
    this.#throttled.warn(
      'slow',
      { maxMemoryBytes },
      'the disk of DATA_DIR is too slow for the new results: the oldest are dropped (vedette_spool_dropped_total counts them)',
    );
  }

  failing(error: unknown, maxMemoryBytes: number): void {
    this.#throttled.error(
      'failing',
      { reason: messageOf(error), code: systemCodeOf(error), maxMemoryBytes },
      'the spool in DATA_DIR cannot be written: results wait in memory, up to its bound, until it can (vedette_spool_dropped_total counts lost ones)',
    );
  }

  recovered(dropped: number): void {
    this.#log.info({ dropped }, 'the spool is written to disk again');
  }

  expired(records: number): void {
    this.#log.warn({ records }, 'dropped results that exceeded SPOOL_MAX_DAYS');
  }

  lost(records: number): void {
    this.#log.error({ records }, 'results could not be written to the spool before shutdown');
  }

  damaged(file: string): void {
    this.#log.error(
      { file },
      'the spool is damaged: recovering intact records and moving the file aside',
    );
  }
}
