import type { Assertion } from '../../../model/check/assertions/assertion.ts';
import type { EvaluationHooks } from '../../assertions/evaluator.ts';

/** Part of the 100 ms that an expression has (evaluator.ts). */
const MAX_EVALUATION_STARVED_MS = 10;

/** Collects which assertions of one evaluation exceeded their time limit for lack of CPU. */
export class CutShort {
  readonly #watch: { readonly starvedMs: number } | undefined;
  readonly #startStarvedMs: number;
  readonly #hadLessTime: Assertion[] = [];
  readonly #perhapsLess: Assertion[] = [];

  /** @param watch of the attempt; the evaluation begins now, or when `sinceStarvedMs` was read */
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

  /** Those cut short until now. */
  assertions(): ReadonlySet<Assertion> {
    if (this.#perhapsLess.length === 0) return new Set(this.#hadLessTime);
    const starvedMs = (this.#watch?.starvedMs ?? 0) - this.#startStarvedMs;
    const wasStarved = starvedMs > MAX_EVALUATION_STARVED_MS;
    return new Set(wasStarved ? [...this.#hadLessTime, ...this.#perhapsLess] : this.#hadLessTime);
  }
}
