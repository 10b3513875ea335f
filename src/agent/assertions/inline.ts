import type { Assertion } from '../../model/check/assertion.ts';
import { compileJsonPath, reachOf } from './json-path.ts';
import { type Parsed, parseJson } from './judge.ts';
import { patternProblem } from './pattern.ts';
import { patternSteps } from './pattern-cost.ts';
import type { Input } from './sources.ts';

/**
 * What the main thread does by itself for all assertions of one attempt together, in steps of
 * about 2 ns. It is what reading 256 KB of JSON costs; more would delay others.
 */
const BUDGET_STEPS = 5_000_000;
const MAX_DOCUMENT_CHARS = 262_144;
const PARSE_STEPS_PER_CHAR = 16;
const WALK_STEPS_PER_CHAR = 8;

/**
 * Decides which assertions of one attempt are cheap enough to be evaluated on the spot. An
 * ordinary assertion is, and a hop to a worker would cost more than it does.
 */
export class InlineWork {
  #spentSteps = 0;
  #parsed: { readonly text: string; readonly outcome: Parsed } | null = null;
  #written: { readonly value: unknown; readonly text: string } | null = null;

  /** Whether to evaluate this one here; its cost is then counted as spent. */
  takes(assertion: Assertion, input: Input): boolean {
    const steps = this.#stepsOf(assertion, input);
    if (this.#spentSteps + steps > BUDGET_STEPS) return false;
    this.#spentSteps += steps;
    return true;
  }

  /** Reads a JSON text once for all the assertions on it. */
  parse(text: string): Parsed {
    if (this.#parsed?.text !== text) this.#parsed = { text, outcome: parseJson(text) };
    return this.#parsed.outcome;
  }

  /** The JSON text of an answer that is an object already, written once for all its assertions. */
  textOf(value: unknown): string {
    if (this.#written === null || this.#written.value !== value) {
      this.#written = { value, text: JSON.stringify(value) };
    }
    return this.#written.text;
  }

  #stepsOf(assertion: Assertion, input: Input): number {
    switch (input.kind) {
      case 'value':
        return 0;
      case 'text': {
        const { pattern, text } = input;
        if (text.length > MAX_DOCUMENT_CHARS) return Number.POSITIVE_INFINITY;
        return searchSteps(pattern, text) + comparisonSteps(assertion, text.length);
      }
      case 'json': {
        const { length } = this.textOf(input.value);
        return pathSteps(input.path, length) + comparisonSteps(assertion, length);
      }
      case 'json-text': {
        const { length } = input.text;
        if (length > MAX_DOCUMENT_CHARS) return Number.POSITIVE_INFINITY;
        const parsing = this.#parsed?.text === input.text ? 0 : length * PARSE_STEPS_PER_CHAR;
        return parsing + pathSteps(input.path, length) + comparisonSteps(assertion, length);
      }
    }
  }
}

function searchSteps(pattern: string | null, text: string): number {
  // An invalid pattern costs nothing but its error.
  if (pattern === null || patternProblem(pattern) !== null) return 0;
  return patternSteps(pattern, text);
}

/** A search for a text in a text can take the product of their lengths, at some 0.2 ns each. */
function comparisonSteps({ comparison, target }: Assertion, length: number): number {
  const isSearch = comparison === 'CONTAINS' || comparison === 'NOT_CONTAINS';
  return isSearch ? length * (1 + target.length / 12) : length / 16;
}

function pathSteps(path: string | null, length: number): number {
  if (path === null) return 0;
  const query = compileJsonPath(path);
  if (typeof query === 'string') return 0;
  const reach = reachOf(query);
  if (reach === 'open') return Number.POSITIVE_INFINITY;
  return reach === 'plain' ? path.length * 100 : length * WALK_STEPS_PER_CHAR;
}
