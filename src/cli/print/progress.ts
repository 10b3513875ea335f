import { countText } from '../../runtime/text/count-text.ts';
import type { Terminal, TerminalStream } from '../terminal.ts';
import { fitting, lineWidth } from './columns.ts';
import { terminalSafe } from './terminal-safe.ts';

/** Returns to the first column and clears to the end of the line (ECMA-48 8.3.41). */
const CLEAR_LINE = '\r\u001b[K';

/** Shows one progress line at the bottom of a terminal; does nothing if the output is not a terminal. */
export class Progress {
  readonly #stream: TerminalStream;
  readonly #isShown: boolean;
  readonly #total: number;
  readonly #running = new Map<string, string>();
  #done = 0;

  constructor({ stderr, env }: Pick<Terminal, 'stderr' | 'env'>, total: number) {
    this.#stream = stderr;
    // A dumb terminal cannot clear a line.
    this.#isShown = stderr.isTTY === true && env.TERM !== 'dumb';
    this.#total = total;
  }

  started(id: string, name: string): void {
    this.#running.set(id, name);
    this.show();
  }

  finished(id: string): void {
    this.#running.delete(id);
    this.#done += 1;
  }

  /** Clears the line for output; `show` draws the progress again under it. */
  clear(): void {
    if (!this.#isShown) return;
    this.#stream.write(CLEAR_LINE);
  }

  show(): void {
    if (!this.#isShown) return;
    // A line that wraps could not be cleared again.
    const width = lineWidth(this.#stream);
    let line = `${this.#done} of ${countText(this.#total, 'check')} done`;
    let separator = '; running: ';
    for (const name of this.#running.values()) {
      if (line.length >= width) break;
      line += separator + terminalSafe(name, 40);
      separator = ', ';
    }
    this.#stream.write(CLEAR_LINE + fitting(line, width));
  }
}
