import { type Automaton, NO_AUTOMATON } from './automaton/automaton.ts';
import { Escapes } from './encodings/escapes.ts';
import { MAX_EXTENSION_BYTES, wholeFrom, wholeTo } from './encodings/whole-escapes.ts';
import { TextScanner } from './search/scanner.ts';
import type { Task } from './search/window.ts';
import { Spans } from './spans.ts';

/** Bytes of a streamed text that are added at once. */
const MAX_PIECE_BYTES = 128 * 1024;
/** Work between two yields: a few milliseconds. */
const MAX_WORK = 80_000;
/** Searches are reused: creating one takes longer than searching a line. */
const MAX_IDLE = 4;

/** Finds the spans to mask in one text, at once or piece by piece. */
export class SecretSearch {
  static readonly #idle: SecretSearch[] = [];

  /** The spans to mask, as positions in `bytes`. */
  readonly spans = new Spans();
  readonly #task: Task = { automaton: NO_AUTOMATON, work: 0 };
  readonly #scanner: TextScanner;

  private constructor() {
    this.#scanner = new TextScanner(this.#task, (from, to) => {
      const { window } = this.#scanner;
      const end = wholeTo(window, escapes, from, to);
      // A match that continues a span does not begin here.
      this.spans.add(this.spans.isInLast(from) ? from : wholeFrom(window, escapes, from), end);
    });
    const escapes = new Escapes(this.#scanner.window);
  }

  /** Must be returned with `release`. */
  static take(automaton: Automaton): SecretSearch {
    const search = SecretSearch.#idle.pop() ?? new SecretSearch();
    search.#task.automaton = automaton;
    search.#task.work = 0;
    search.#scanner.start();
    search.spans.clear();
    return search;
  }

  release(): void {
    this.#task.automaton = NO_AUTOMATON;
    this.#scanner.close();
    if (SecretSearch.#idle.length < MAX_IDLE) SecretSearch.#idle.push(this);
  }

  get bytes(): Uint8Array {
    return this.#scanner.window.bytes;
  }

  get length(): number {
    return this.#scanner.length;
  }

  /** Later matches begin at this position or behind it. */
  get decided(): number {
    return Math.max(0, this.#scanner.undecided() - MAX_EXTENSION_BYTES);
  }

  /** Opens a complete text: nothing may be added. */
  open(bytes: Uint8Array, length: number): void {
    this.#scanner.open(bytes, length);
  }

  /** Adds the beginning of a piece. Returns how many bytes were added. */
  add(piece: Uint8Array): number {
    const added = piece.subarray(0, MAX_PIECE_BYTES);
    const { length } = this.#scanner;
    this.#scanner.reserve(added.length).set(added, length);
    this.#scanner.filledTo(length + added.length);
    return added.length;
  }

  /**
   * Searches as far as possible; yields to the event loop every few milliseconds.
   *
   * @param isWhole whether the text is complete
   */
  async search(isWhole: boolean, yieldToEventLoop: () => Promise<void>): Promise<void> {
    while (!this.#scanner.run(isWhole)) await this.rest(yieldToEventLoop);
    if (isWhole) this.#scanner.end(false);
    await this.rest(yieldToEventLoop);
  }

  searchAtOnce(): void {
    this.#scanner.end(false);
  }

  /** Yields to the event loop if enough work was done. */
  async rest(yieldToEventLoop: () => Promise<void>, work = 0): Promise<void> {
    this.#task.work += work;
    if (this.#task.work < MAX_WORK) return;
    this.#task.work = 0;
    await yieldToEventLoop();
  }

  /** Drops the beginning if it is long enough. Returns the number of dropped bytes. */
  drop(before: number): number {
    const dropped = this.#scanner.drop(Math.min(before, this.#scanner.undecided()));
    if (dropped > 0) this.spans.shift(dropped);
    return dropped;
  }
}
