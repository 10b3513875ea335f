import type { Assertion, Comparison } from '../../model/check/assertion.ts';
import { messageOf } from '../../runtime/errors.ts';
import { cutScrubbed } from '../secrets/cut-scrubbed.ts';
import { MASK } from '../secrets/sensitive-headers.ts';
import { comparisonWith, type Predicate } from './compare.ts';
import { compileJsonPath, select } from './json-path.ts';
import { numberOf } from './numeric.ts';
import { compilePattern, firstMatch } from './pattern.ts';
import { MAX_ACTUAL_BYTES, previewOf } from './preview.ts';
import { type Input, isSecretValue, nameOf, quoted, shortened, subjectOf } from './sources.ts';

/** What came of one assertion; `error` is null where it passed. */
export interface Outcome {
  readonly actual: string | null;
  readonly error: OutcomeError | null;
}

/** A message in two: what the check says by itself, and what a target had a part in. */
export interface OutcomeError {
  readonly said: string;
  /**
   * What ends the message: `actual` in quotation marks or bare, with what follows it; or a text that
   * quotes the response.
   */
  readonly end:
    | { readonly kind: 'quoted' | 'bare'; readonly aside: string }
    | { readonly kind: 'of-response'; readonly text: string }
    | null;
}

/**
 * The outcome as a result shows it. Only what the response had a part in is put through `mask`: what
 * else stands in a message was written with the check, and whoever wrote it may be guessing.
 */
export function shownOutcome(
  { actual, error }: Outcome,
  mask: (text: string) => string,
): { readonly actual: string | null; readonly error: string | null } {
  const cut = { scrub: mask, isWhole: false };
  const shown = actual === null ? null : cutScrubbed(actual, MAX_ACTUAL_BYTES, cut);
  if (error === null) return { actual: shown, error: null };
  const { said, end } = error;
  if (end === null) return { actual: shown, error: said };
  if (end.kind === 'of-response') return { actual: shown, error: `${said}${mask(end.text)}` };
  const value = end.kind === 'quoted' ? quoted(shown ?? '') : shortened(shown ?? 'null');
  return { actual: shown, error: `${said}${value}${end.aside}` };
}

/** A JSON text read once, for all the assertions on it. */
export type Parsed =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

export function parseJson(text: string): Parsed {
  if (text.trim() === '') return { ok: false, problem: 'it is empty' };
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (thrown) {
    // V8 quotes the text, which may have line breaks.
    return { ok: false, problem: messageOf(thrown).replaceAll(/\s+/g, ' ') };
  }
}

/** How messages name what was expected; `target`: whether to include the target. */
const EXPECTATIONS: Readonly<Record<Comparison, { words: string; target: boolean }>> = {
  EQUALS: { words: 'to equal', target: true },
  NOT_EQUALS: { words: 'not to equal', target: true },
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
 * Evaluates one assertion. It runs the user's expression to its end, however long that takes:
 * whoever calls it sees to the time limit. Never throws for what a body or an expression holds.
 *
 * @param parse reads a JSON text; callers remember what they have read
 */
export function judge(
  assertion: Assertion,
  input: Input,
  parse: (text: string) => Parsed,
): Outcome {
  const holds = comparisonWith(assertion.comparison, assertion.target);
  try {
    switch (input.kind) {
      case 'value':
        return judgeValue(assertion, holds, input.value);
      case 'text':
        return judgeText(assertion, holds, input.text, input.pattern);
      case 'json':
        return judgeJson(assertion, holds, input.value, input.path);
      case 'json-text': {
        const parsed = parse(input.text);
        if (parsed.ok) return judgeJson(assertion, holds, parsed.value, input.path);
        const said = `${nameOf(assertion.source)} is not JSON: `;
        const end = { kind: 'of-response', text: parsed.problem } as const;
        return { actual: previewOf(input.text), error: { said, end } };
      }
    }
  } catch (thrown) {
    // The stack or a string is at its limit, or the JSONPath library at its limit of depth.
    const why = thrown instanceof RangeError ? TOO_DEEP : messageOf(thrown);
    return failed(`${subjectOf(assertion)} could not be evaluated: ${why}`);
  }
}

/** Used as `actual` and `error` if there was nothing to compare. */
export function withoutResponse(assertion: Assertion): Outcome {
  return failed(
    `expected ${subjectOf(assertion)} ${expectation(assertion)}, but there was no response`,
  );
}

function judgeText(
  assertion: Assertion,
  holds: Predicate,
  text: string,
  patternText: string | null,
): Outcome {
  if (patternText === null) return judgeValue(assertion, holds, text);
  const pattern = compilePattern(patternText);
  if (typeof pattern === 'string') return invalid('regular expression', patternText, pattern);
  const match = firstMatch(pattern, text);
  return judgeValue(assertion, holds, match, match === null ? 'no match' : '');
}

function judgeJson(
  assertion: Assertion,
  holds: Predicate,
  document: unknown,
  path: string | null,
): Outcome {
  if (path === null) return judgeValue(assertion, holds, document);
  const query = compileJsonPath(path);
  if (typeof query === 'string') return invalid('JSONPath', path, query);
  return judgeMatches(assertion, holds, select(query, document));
}

/** Several matches are ANDed; the first that fails decides. No match is null. */
function judgeMatches(assertion: Assertion, holds: Predicate, matches: Iterable<unknown>): Outcome {
  const shown: unknown[] = [];
  let count = 0;
  for (const match of matches) {
    count += 1;
    if (shown.length < MAX_SHOWN_MATCHES) shown.push(match);
    if (!holds(match)) {
      const note = count === 1 ? '' : `match ${count}`;
      return judgeValue(assertion, holds, match, note);
    }
  }
  if (count === 0) return judgeValue(assertion, holds, null, 'no match');
  return { actual: previewOf(count === 1 ? shown[0] : shown), error: null };
}

function judgeValue(
  assertion: Assertion,
  holds: Predicate,
  value: unknown,
  note: string = '',
): Outcome {
  const actual = value !== null && isSecretValue(assertion) ? MASK : previewOf(value);
  if (holds(value)) return { actual, error: null };
  const kind = typeof value === 'string' ? 'quoted' : 'bare';
  const aside = note === '' ? '' : ` (${note})`;
  const said = `expected ${subjectOf(assertion)} ${expectation(assertion)}, but it was `;
  return { actual, error: { said, end: { kind, aside } } };
}

function expectation({ comparison, target }: Assertion): string {
  const { words, target: hasTarget } = EXPECTATIONS[comparison];
  if (!hasTarget) return words;
  return `${words} ${numberOf(target) === null ? quoted(target) : target.trim()}`;
}

function invalid(what: string, expression: string, problem: string): Outcome {
  return failed(`the ${what} ${quoted(expression)} is not valid: ${problem}`);
}

/** Nothing of a response is in the message. */
export function failed(said: string): Outcome {
  return { actual: null, error: { said, end: null } };
}
