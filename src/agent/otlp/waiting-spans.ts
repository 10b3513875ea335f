import { Queue } from '../../runtime/fifo-queue.ts';
import type { Span } from './otlp-json.ts';

/** Results whose spans wait. */
const MAX_RESULTS = 5_000;

/** The spans of results that wait to be exported, oldest first. */
export class WaitingSpans {
  readonly #results = new Queue<readonly Span[]>();

  /** How many results wait. */
  get results(): number {
    return this.#results.length;
  }

  /**
   * @param spans those of one result
   * @returns how many spans of the oldest result were dropped for them
   */
  push(spans: readonly Span[]): number {
    this.#results.push(spans);
    if (this.#results.length <= MAX_RESULTS) return 0;
    return this.#results.shift()?.length ?? 0;
  }

  /** The spans of at most so many results, which then wait no more. */
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
