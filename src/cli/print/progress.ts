import { countText } from '../../runtime/text/count-text.ts';
import type { Terminal, TerminalStream } from '../terminal.ts';
import { harmless } from './harmless.ts';

/** Back to the first column, and clear to the end of the line (ECMA-48 8.3.41). */
const CLEAR_LINE = '\r\u001b[K';
const DEFAULT_COLUMNS = 80;

/** One progress line at the foot of a terminal; nothing if the output is no terminal. */
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
    const { columns = 0 } = this.#stream;
    // A line that wraps could not be cleared again; a terminal of unknown width reports 0.
    const width = (columns > 0 ? columns : DEFAULT_COLUMNS) - 1;
    let line = `${this.#done} of ${countText(this.#total, 'check')} done`;
    let separator = '; running: ';
    for (const name of this.#running.values()) {
      if (line.length >= width) break;
      line += separator + harmless(name, 40);
      separator = ', ';
    }
    this.#stream.write(CLEAR_LINE + fitting(line, width));
  }
}

/** As much of the text as fits; characters that are not plain Latin may be two columns wide. */
function fitting(text: string, columns: number): string {
  let used = 0;
  let fit = '';
  for (const char of text) {
    used += (char.codePointAt(0) ?? 0) < 0x300 ? 1 : 2;
    if (used > columns) return fit;
    fit += char;
  }
  return fit;
}
