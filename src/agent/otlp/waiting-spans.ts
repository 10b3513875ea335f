import { Queue } from '../../runtime/fifo-queue.ts';
import type { Span } from './otlp-json.ts';

/** Maximum number of results whose spans wait. */
const MAX_RESULTS = 5_000;

/** The spans of results that wait to be exported, oldest first. */
export class WaitingSpans {
  readonly #results = new Queue<readonly Span[]>();

  /** How many results wait. */
  get results(): number {
    return this.#results.length;
  }

  /**
   * @param spans the spans of one result
   * @returns the number of spans of the oldest result that were dropped for them
   */
  push(spans: readonly Span[]): number {
    this.#results.push(spans);
    if (this.#results.length <= MAX_RESULTS) return 0;
    return this.#results.shift()?.length ?? 0;
  }

  /** Removes and returns the spans of at most this many results. */
  take(results: number): readonly Span[] {
    const spans: Span[] = [];
    for (let taken = 0; taken < results; taken += 1) {
      const next = this.#results.shift();
      if (next === null) break;
      spans.push(...next);
    }
    return spans;
  }
}
