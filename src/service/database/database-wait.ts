import { Backoff } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import { VedetteError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { ThrottledLog } from '../../runtime/throttled-log.ts';
import { sleep } from '../../runtime/wait.ts';
import { StoreError } from './store-errors.ts';

const BACKOFF = { minMs: 1_000, maxMs: 30_000 } as const;

/** Codes of `unavailable` that end without a change of the settings, unlike a refused password. */
const PASSING: ReadonlySet<string> = new Set([
  'STORE_CONNECTION',
  'STORE_SHUTDOWN',
  'STORE_TOO_MANY',
  'STORE_RESOURCES',
  'STORE_READ_ONLY',
  'STORE_LOCK_TIMEOUT',
  'STORE_COMMIT_UNKNOWN',
]);

interface WaitParts {
  readonly clock: Clock;
  readonly log: Logger;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/** Waits for a database that is unavailable while the service starts: after a power loss both start at once. */
export class DatabaseWait {
  readonly #parts: WaitParts;
  readonly #problems: ThrottledLog;
  readonly #backoff = new Backoff(BACKOFF);
  #isStarted = false;

  constructor(parts: WaitParts) {
    this.#parts = parts;
    this.#problems = new ThrottledLog(parts.clock, parts.log);
  }

  /**
   * Calls `start` until it returns or the signal aborts. Calls it again, after a growing delay, if the database
   * was unavailable before `started`.
   *
   * @throws what `start` throws for any other reason
   */
  async retry(start: () => Promise<void>): Promise<void> {
    const { clock, signal } = this.#parts;
    while (!signal.aborted) {
      try {
        return await start();
      } catch (thrown) {
        const problem = this.#isStarted ? null : passingProblem(thrown);
        if (problem === null) throw thrown;
        if (signal.aborted) return;
        this.#problems.warn(
          'database',
          { code: problem.code },
          `the service waits for its database and tries again: ${problem.message}: see that the database runs and that DATABASE_URL is right, and DATABASE_DIRECT_URL if it is set`,
        );
      }
      await sleep(clock, this.#backoff.next(), signal);
    }
  }

  /** The database is usable, also at DATABASE_DIRECT_URL. */
  answered(): void {
    if (this.#problems.clear()) this.#parts.log.info('the database answers');
  }

  /** The service has started: whatever fails later is not waited for. */
  started(): void {
    this.#isStarted = true;
  }
}

function passingProblem(thrown: unknown): StoreError | null {
  const error = thrown instanceof VedetteError ? thrown.cause : thrown;
  return error instanceof StoreError && PASSING.has(error.code) ? error : null;
}
