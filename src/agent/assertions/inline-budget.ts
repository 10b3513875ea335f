import type { Assertion } from '../../model/check/assertions/assertion.ts';
import type { AssertionInput } from './assertion-sources.ts';
import { type ParsedJson, parseJson } from './evaluate-assertion.ts';
import { compileJsonPath, pathReach } from './json-path.ts';
import { compilePattern } from './pattern.ts';
import { patternSteps } from './pattern-cost.ts';

/**
 * The main thread's budget for all assertions of one attempt together, in steps of about 2 ns: the
 * cost of parsing 256 KB of JSON. More would delay other checks.
 */
const BUDGET_STEPS = 5_000_000;
const MAX_DOCUMENT_CHARS = 262_144;
const PARSE_STEPS_PER_CHAR = 16;
const WALK_STEPS_PER_CHAR = 8;

/**
 * Decides which assertions of one attempt are cheap enough for the main thread. Most are: sending
 * them to a worker would cost more than evaluating them.
 */
export class InlineBudget {
  #spentSteps = 0;
  #parsed: { readonly text: string; readonly outcome: ParsedJson } | null = null;
  #stringified: { readonly value: unknown; readonly text: string } | null = null;

  /** Whether to evaluate it on the main thread; if so, subtracts its cost from the budget. */
  takes(assertion: Assertion, input: AssertionInput): boolean {
    const steps = this.#stepsOf(assertion, input);
    if (this.#spentSteps + steps > BUDGET_STEPS) return false;
    this.#spentSteps += steps;
    return true;
  }

  /** Parses a JSON text once for all assertions on it. */
  parse(text: string): ParsedJson {
    if (this.#parsed?.text !== text) this.#parsed = { text, outcome: parseJson(text) };
    return this.#parsed.outcome;
  }

  /** The JSON text of a response that is an object, serialized once for all assertions on it. */
  textOf(value: unknown): string {
    if (this.#stringified === null || this.#stringified.value !== value) {
      this.#stringified = { value, text: JSON.stringify(value) };
    }
    return this.#stringified.text;
  }

  #stepsOf(assertion: Assertion, input: AssertionInput): number {
    // Patterns and alternatives of a schema can multiply.
    if (assertion.source === 'JSON_SCHEMA') return Number.POSITIVE_INFINITY;
    switch (input.kind) {
      case 'value':
        return 0;
      case 'text':
      case 'matched-text': {
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
  // An invalid pattern only results in an error.
  if (pattern === null || typeof compilePattern(pattern) === 'string') return 0;
  return patternSteps(pattern, text);
}

/** A text search can take the product of both lengths, at about 0.2 ns each. */
function comparisonSteps({ comparison, target }: Assertion, length: number): number {
  const isSearch = comparison === 'CONTAINS' || comparison === 'NOT_CONTAINS';
  return isSearch ? length * (1 + target.length / 12) : length / 16;
}

function pathSteps(path: string | null, length: number): number {
  if (path === null) return 0;
  const query = compileJsonPath(path);
  if (typeof query === 'string') return 0;
  const reach = pathReach(query);
  if (reach === 'open') return Number.POSITIVE_INFINITY;
  return reach === 'plain' ? path.length * 100 : length * WALK_STEPS_PER_CHAR;
}
