import type { Assertion } from '../../../model/check/assertions/assertion.ts';
import type { EvaluationHooks } from '../../assertions/evaluator.ts';

/** With more starvation within its 100 ms (evaluator.ts), an expression had too little time. */
const MAX_EVALUATION_STARVED_MS = 10;

/** Collects which assertions of one evaluation exceeded their time limit for lack of CPU. */
export class CutShort {
  readonly #watch: { readonly starvedMs: number } | undefined;
  readonly #startStarvedMs: number;
  readonly #hadLessTime: Assertion[] = [];
  readonly #perhapsLess: Assertion[] = [];

  /**
   * @param watch the starvation of the attempt
   * @param sinceStarvedMs its value when the evaluation began; default: now
   */
  constructor(
    watch: { readonly starvedMs: number } | undefined,
    sinceStarvedMs = watch?.starvedMs ?? 0,
  ) {
    this.#watch = watch;
    this.#startStarvedMs = sinceStarvedMs;
  }

  readonly onOutOfTime: NonNullable<EvaluationHooks['onOutOfTime']> = (hadItsTime, assertion) => {
    if (hadItsTime === null) this.#perhapsLess.push(assertion);
    if (hadItsTime === false) this.#hadLessTime.push(assertion);
  };

  /** The assertions that were cut short so far. */
  assertions(): ReadonlySet<Assertion> {
    if (this.#perhapsLess.length === 0) return new Set(this.#hadLessTime);
    const starvedMs = (this.#watch?.starvedMs ?? 0) - this.#startStarvedMs;
    const wasStarved = starvedMs > MAX_EVALUATION_STARVED_MS;
    return new Set(wasStarved ? [...this.#hadLessTime, ...this.#perhapsLess] : this.#hadLessTime);
  }
}
