import type { Assertion, Comparison } from '../../model/check/assertions/assertion.ts';
import { comparisonWith, type Predicate } from '../../model/check/assertions/compare.ts';
import { parseNumber } from '../../model/check/assertions/numeric.ts';
import { MASK } from '../../model/credentials/mask.ts';
import { messageOf } from '../../runtime/errors.ts';
import { quoted, shortenedToChars } from '../../runtime/text/quoted.ts';
import { cutScrubbed } from '../secrets/cut-scrubbed.ts';
import {
  type AssertionInput,
  isSecretValue,
  sourceName,
  sourcePhrase,
} from './assertion-sources.ts';
import { compileJsonPath, select } from './json-path.ts';
import { compileJsonSchema, type MessagePart, mismatchesOf } from './json-schema.ts';
import { compilePattern, firstMatch } from './pattern.ts';
import { MAX_ACTUAL_BYTES, previewOf } from './preview.ts';

/** The outcome of one assertion; `error` is null if it passed. */
export interface Outcome {
  readonly actual: string | null;
  readonly error: OutcomeError | null;
}

/** A message in two parts: the first depends on the check only, the second on the response. */
export interface OutcomeError {
  readonly start: string;
  /**
   * `actual` in quotation marks or bare, with a note after it; a text that quotes the response; or
   * parts, some of which do.
   */
  readonly end:
    | { readonly kind: 'quoted' | 'bare'; readonly note: string }
    | { readonly kind: 'of-response'; readonly text: string }
    | { readonly kind: 'parts'; readonly parts: readonly MessagePart[] }
    | null;
}

/**
 * The outcome as a result shows it. Masks only the parts that depend on the response: the author of
 * the check wrote the rest, and a mask in it would confirm a guess at a secret.
 */
export function shownOutcome(
  { actual, error }: Outcome,
  mask: (text: string) => string,
): { readonly actual: string | null; readonly error: string | null } {
  const cut = { scrub: mask, isWhole: false };
  const shown = actual === null ? null : cutScrubbed(actual, MAX_ACTUAL_BYTES, cut);
  if (error === null) return { actual: shown, error: null };
  const { start, end } = error;
  if (end === null) return { actual: shown, error: start };
  if (end.kind === 'of-response') return { actual: shown, error: `${start}${mask(end.text)}` };
  if (end.kind === 'parts') {
    const texts = end.parts.map(({ text, isOfResponse }) => (isOfResponse ? mask(text) : text));
    return { actual: shown, error: `${start}${texts.join('')}` };
  }
  const value = end.kind === 'quoted' ? quoted(shown ?? '') : shortenedToChars(shown ?? 'null');
  return { actual: shown, error: `${start}${value}${end.note}` };
}

/** A parsed JSON text, shared by all assertions on it. */
export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

export function parseJson(text: string): ParsedJson {
  if (text.trim() === '') return { ok: false, problem: 'it is empty' };
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (thrown) {
    // V8 quotes the text, which may have line breaks.
    return { ok: false, problem: messageOf(thrown).replaceAll(/\s+/g, ' ') };
  }
}

/** How messages express an expectation; `target`: whether it includes the target. */
const EXPECTATIONS: Readonly<Record<Comparison, { words: string; target: boolean }>> = {
  EQUALS: { words: 'to equal', target: true },
  NOT_EQUALS: { words: 'not to equal', target: true },
  ONE_OF: { words: 'to be one of', target: true },
  HAS_KEY: { words: 'to have the key', target: true },
  NOT_HAS_KEY: { words: 'not to have the key', target: true },
  HAS_VALUE: { words: 'to have the value', target: true },
  NOT_HAS_VALUE: { words: 'not to have the value', target: true },
  IS_EMPTY: { words: 'to be empty', target: false },
  NOT_EMPTY: { words: 'not to be empty', target: false },
  GREATER_THAN: { words: 'to be greater than', target: true },
  LESS_THAN: { words: 'to be less than', target: true },
  CONTAINS: { words: 'to contain', target: true },
  NOT_CONTAINS: { words: 'not to contain', target: true },
  IS_NULL: { words: 'to be null', target: false },
  NOT_NULL: { words: 'not to be null', target: false },
};

const MAX_SHOWN_MATCHES = 100;
const TOO_DEEP = 'it is nested too deeply, or too long for the expression';

/**
 * Evaluates one assertion. Runs the user's expression without a time limit: the caller sets one.
 * Never throws because of a body or an expression.
 *
 * @param parse parses a JSON text; callers cache the result
 */
export function evaluateAssertion(
  assertion: Assertion,
  input: AssertionInput,
  parse: (text: string) => ParsedJson,
): Outcome {
  const holds = comparisonWith(assertion.comparison, assertion.target);
  try {
    switch (input.kind) {
      case 'value':
        return valueOutcome(assertion, holds, input.value);
      case 'text':
      case 'matched-text':
        return textOutcome(assertion, holds, input);
      case 'json':
        return jsonOutcome(assertion, holds, input.value, input.path);
      case 'json-text': {
        const parsed = parse(input.text);
        if (parsed.ok) return jsonOutcome(assertion, holds, parsed.value, input.path);
        const start = `${sourceName(assertion.source)} is not JSON: `;
        const end = { kind: 'of-response', text: parsed.problem } as const;
        return { actual: previewOf(input.text), error: { start, end } };
      }
    }
  } catch (thrown) {
    // RangeError: the stack or a string reached its limit, or the JSONPath library its depth limit.
    const why = thrown instanceof RangeError ? TOO_DEEP : messageOf(thrown);
    return failedAssertion(`${sourcePhrase(assertion)} could not be evaluated: ${why}`);
  }
}

export function withoutResponse(assertion: Assertion): Outcome {
  return failedAssertion(
    `expected ${sourcePhrase(assertion)} ${expectation(assertion)}, but there was no response`,
  );
}

export function withoutTls(assertion: Assertion): Outcome {
  return failedAssertion(
    `expected ${sourcePhrase(assertion)} ${expectation(assertion)}, but the connection had no TLS`,
  );
}

type TextInput = Extract<AssertionInput, { readonly kind: 'text' | 'matched-text' }>;

function textOutcome(
  assertion: Assertion,
  holds: Predicate,
  { kind, text, pattern: patternText }: TextInput,
): Outcome {
  if (patternText === null) return valueOutcome(assertion, holds, text);
  const pattern = compilePattern(patternText);
  if (typeof pattern === 'string') return invalid('regular expression', patternText, pattern);
  const match = kind === 'text' ? firstMatch(pattern, text) : (pattern.exec(text)?.[0] ?? null);
  return valueOutcome(assertion, holds, match, match === null ? 'no match' : '');
}

function jsonOutcome(
  assertion: Assertion,
  holds: Predicate,
  document: unknown,
  path: string | null,
): Outcome {
  const isSchema = assertion.source === 'JSON_SCHEMA';
  if (path === null) {
    return isSchema
      ? schemaOutcome(assertion, [document])
      : valueOutcome(assertion, holds, document);
  }
  const query = compileJsonPath(path);
  if (typeof query === 'string') return invalid('JSONPath', path, query);
  if (isSchema) return schemaOutcome(assertion, select(query, document));
  return matchesOutcome(assertion, holds, select(query, document));
}

/** Passes if all matches pass; reports the first that fails. No match counts as null. */
function matchesOutcome(
  assertion: Assertion,
  holds: Predicate,
  matches: Iterable<unknown>,
): Outcome {
  const shown: unknown[] = [];
  let count = 0;
  for (const match of matches) {
    count += 1;
    if (shown.length < MAX_SHOWN_MATCHES) shown.push(match);
    if (!holds(match)) {
      const note = count === 1 ? '' : `match ${count}`;
      return valueOutcome(assertion, holds, match, note);
    }
  }
  if (count === 0) return valueOutcome(assertion, holds, null, 'no match');
  return { actual: previewOf(count === 1 ? shown[0] : shown), error: null };
}

/** Whether all values are valid against the schema; reports the first that decides. */
function schemaOutcome(assertion: Assertion, values: Iterable<unknown>): Outcome {
  const schema = compileJsonSchema(assertion.target);
  if (typeof schema === 'string') {
    return failedAssertion(`the JSON Schema of the target is not valid: ${schema}`);
  }
  const isWanted = assertion.comparison !== 'NOT_EQUALS';
  const phrase = sourcePhrase(assertion);
  let last: unknown = null;
  let count = 0;
  for (const value of values) {
    count += 1;
    last = value;
    const parts = mismatchesOf(schema, value);
    if (isWanted === (parts.length === 0)) continue;
    const actual = previewOf(value);
    if (!isWanted) {
      const start = `expected ${phrase} not to be valid against the JSON Schema, but it was`;
      return { actual, error: { start, end: null } };
    }
    const start = `expected ${phrase} to be valid against the JSON Schema, but `;
    return { actual, error: { start, end: { kind: 'parts', parts } } };
  }
  // No match counts as null.
  return count === 0 ? schemaOutcome(assertion, [null]) : { actual: previewOf(last), error: null };
}

function valueOutcome(
  assertion: Assertion,
  holds: Predicate,
  value: unknown,
  note: string = '',
): Outcome {
  const actual = value !== null && isSecretValue(assertion) ? MASK : previewOf(value);
  if (holds(value)) return { actual, error: null };
  const kind = typeof value === 'string' ? 'quoted' : 'bare';
  const start = `expected ${sourcePhrase(assertion)} ${expectation(assertion)}, but it was `;
  return { actual, error: { start, end: { kind, note: note === '' ? '' : ` (${note})` } } };
}

function expectation({ comparison, target }: Assertion): string {
  const { words, target: hasTarget } = EXPECTATIONS[comparison];
  if (!hasTarget) return words;
  return `${words} ${parseNumber(target) === null ? quoted(target) : target.trim()}`;
}

function invalid(what: string, expression: string, problem: string): Outcome {
  return failedAssertion(`the ${what} ${quoted(expression)} is not valid: ${problem}`);
}

/** @param message must contain nothing of the response, since it is not masked */
export function failedAssertion(message: string): Outcome {
  return { actual: null, error: { start: message, end: null } };
}
