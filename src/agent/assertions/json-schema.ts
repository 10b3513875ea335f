import { type OutputUnit, validate } from '@cfworker/json-schema';
import { type JsonSchema, parseJsonSchema } from '../../model/check/assertions/json-schema.ts';
import { LruCache } from '../../runtime/lru-cache.ts';
import { shortenedToChars } from '../../runtime/text/quoted.ts';

/** A part of a message that quotes the response in some of its parts. */
export interface MessagePart {
  readonly text: string;
  readonly isOfResponse: boolean;
}

const compiled = new LruCache<JsonSchema | string>(100);

/** The JSON Schema of a text, or the problem with it. */
export function compileJsonSchema(text: string): JsonSchema | string {
  return compiled.getOrMake(text, () => parseJsonSchema(text));
}

/** Maximum number of mismatches in a message. */
const MAX_SHOWN = 5;
/** Maximum number of errors of the validator to read; the others are only counted. */
const MAX_UNITS = 10_000;

/** Keywords whose errors only report that a part fails; the error of the part follows. */
const WRAPPERS: ReadonlySet<string> = new Set([
  '$ref',
  'additionalItems',
  'additionalProperties',
  'allOf',
  'dependentSchemas',
  'if',
  'items',
  'patternProperties',
  'prefixItems',
  'properties',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
/** Keywords with alternatives: the one that the author meant is unknown. */
const ALTERNATIVES: ReadonlySet<string> = new Set(['anyOf', 'oneOf']);
/** Keywords whose errors begin with a number of the response. */
const NUMBER_KEYWORDS: ReadonlySet<string> = new Set([
  'exclusiveMaximum',
  'exclusiveMinimum',
  'maximum',
  'minimum',
  'multipleOf',
]);

/**
 * The first mismatches of a value with the schema, by JSON pointer (RFC 6901), as parts of a
 * message; none if it is valid. Has no time limit: the caller sets one.
 */
export function mismatchesOf(schema: JsonSchema, value: unknown): readonly MessagePart[] {
  const units = errorsOf(schema, value);
  if (units.length === 0) return [];
  const mismatches: OutputUnit[] = [];
  let skipped: string | null = null;
  for (const unit of units.slice(0, MAX_UNITS)) {
    const { keyword, keywordLocation } = unit;
    if (skipped !== null && keywordLocation.startsWith(skipped)) continue;
    if (WRAPPERS.has(keyword)) continue;
    if (ALTERNATIVES.has(keyword)) skipped = `${keywordLocation}/`;
    mismatches.push(unit);
  }
  const shown = mismatches.slice(0, MAX_SHOWN).map(partsOf);
  const more = mismatches.length - shown.length;
  return [
    ...shown.flatMap((parts, index) => (index === 0 ? parts : [plain('; '), ...parts])),
    ...(more > 0 ? [plain(`; and ${more}${units.length > MAX_UNITS ? '+' : ''} more`)] : []),
  ];
}

function errorsOf({ schema, draft, lookup }: JsonSchema, value: unknown): readonly OutputUnit[] {
  try {
    return validate(value, schema, draft, lookup, false).errors;
  } catch (thrown) {
    // The library spreads errors as arguments, of which there may be too many.
    if (!(thrown instanceof RangeError)) throw thrown;
    return validate(value, schema, draft, lookup, true).errors;
  }
}

/** Parts from the schema are not masked; pointers and numbers from the response are. */
function partsOf({ instanceLocation, keyword, error }: OutputUnit): readonly MessagePart[] {
  const pointer = decoded(instanceLocation.replace(/^#/, ''));
  const where = pointer === '' ? plain('at the top') : ofResponse(shortenedToChars(pointer));
  if (keyword === 'false') return [where, plain(': nothing is allowed here')];
  const text = error.replace(/\.$/, '').replace(/^Instance /, '');
  const [, number, rest] = NUMBER_KEYWORDS.has(keyword) ? (/^(\S+)( .*)$/s.exec(text) ?? []) : [];
  if (number === undefined || rest === undefined)
    return [where, plain(`: ${shortenedToChars(text)}`)];
  return [where, plain(': '), ofResponse(number), plain(rest)];
}

/** The library writes names as in a URI fragment. */
function decoded(pointer: string): string {
  try {
    return decodeURI(pointer);
  } catch {
    return pointer;
  }
}

function plain(text: string): MessagePart {
  return { text, isOfResponse: false };
}

function ofResponse(text: string): MessagePart {
  return { text, isOfResponse: true };
}
