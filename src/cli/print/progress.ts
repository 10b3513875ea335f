import type { TerminalStream } from '../terminal.ts';
import { harmless } from './harmless.ts';

/** Back to the first column, and clear to the end of the line (ECMA-48 8.3.41). */
const CLEAR_LINE = '\r\u001b[K';
const DEFAULT_COLUMNS = 80;

/** One line at the foot of a terminal that says how far a command is; nothing anywhere else. */
export class Progress {
  readonly #stream: TerminalStream;
  readonly #total: number;
  readonly #running = new Map<string, string>();
  #done = 0;

  constructor(stream: TerminalStream, total: number) {
    this.#stream = stream;
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

  /** Makes room for a line of output; `show` brings the progress back under it. */
  clear(): void {
    if (this.#stream.isTTY !== true) return;
    this.#stream.write(CLEAR_LINE);
  }

  show(): void {
    if (this.#stream.isTTY !== true) return;
    const names = [...this.#running.values()].map((name) => harmless(name, 40)).join(', ');
    const line = `${this.#done} of ${this.#total} checks done; running: ${names}`;
    // A line that wraps could not be cleared again.
    const room = (this.#stream.columns ?? DEFAULT_COLUMNS) - 1;
    this.#stream.write(CLEAR_LINE + [...line].slice(0, room).join(''));
  }
}
