import type { RemovedCounts } from '../../service/account-removal/remove-account.ts';
import type { Terminal } from '../terminal.ts';
import { countsText } from './removal-text.ts';

/** Returns to the first column and clears to the end of the line (ECMA-48 8.3.41). */
const CLEAR_LINE = '\r\u001b[K';
const DEFAULT_COLUMNS = 80;
/** How often a line is printed if stderr is not a terminal. */
const LINE_EVERY_MS = 30_000;

/** Shows how much was deleted: one line that is updated on a terminal, otherwise two lines per minute. */
export class RemovalProgress {
  readonly #terminal: Pick<Terminal, 'stderr' | 'clock'>;
  readonly #isShown: boolean;
  #nextMs: number;

  constructor({ stderr, env, clock }: Pick<Terminal, 'stderr' | 'env' | 'clock'>) {
    this.#terminal = { stderr, clock };
    // A dumb terminal cannot clear a line.
    this.#isShown = stderr.isTTY === true && env.TERM !== 'dumb';
    this.#nextMs = clock.monotonicMs() + LINE_EVERY_MS;
  }

  show(removed: RemovedCounts): void {
    const { stderr, clock } = this.#terminal;
    const text = `deleted so far: ${countsText(removed)}`;
    if (this.#isShown) {
      stderr.write(`${CLEAR_LINE}${text.slice(0, (stderr.columns ?? DEFAULT_COLUMNS) - 1)}`);
    } else if (clock.monotonicMs() >= this.#nextMs) {
      this.#nextMs = clock.monotonicMs() + LINE_EVERY_MS;
      stderr.write(`vedette: ${text}\n`);
    }
  }

  /** Clears the line. Call it before other output. */
  clear(): void {
    if (this.#isShown) this.#terminal.stderr.write(CLEAR_LINE);
  }
}
