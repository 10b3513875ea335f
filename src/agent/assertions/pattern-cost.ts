import { patternParts } from '../../model/check/expressions.ts';
import { LruCache } from '../../runtime/lru-cache.ts';

/**
 * The maximum work of a backtracking search in a text of n characters:
 * `starts · paths · (n + 1)^degree · atoms` single comparisons.
 */
interface Shape {
  /** Ways through the pattern from one start, not counting those that depend on n. */
  readonly paths: number;
  /** The number of unbounded repetitions whose counts multiply. */
  readonly degree: number;
  /** The maximum of single characters, classes and positions that one way compares. */
  readonly atoms: number;
}

export interface PatternShape extends Shape {
  /** Begins with `^`, without the flag m: there is only one start. */
  readonly anchored: boolean;
  /** The literal text that every match begins with; empty if there is none. */
  readonly prefix: string;
}

const shapes = new LruCache<PatternShape | 'unknown'>(500);

/**
 * An upper bound of the steps of a search, to keep cheap patterns on the main thread. Infinity for
 * patterns without a known bound: nested repetitions, back-references, lookaround.
 */
export function patternSteps(pattern: string, text: string): number {
  const shape = shapes.getOrMake(pattern, () => patternShape(pattern) ?? 'unknown');
  if (shape === 'unknown') return Number.POSITIVE_INFINITY;
  const length = text.length + 1;
  const each = shape.paths * length ** shape.degree * shape.atoms;
  return length + startsIn(text, shape, length) * each;
}

/** More starts than this count as a start at every character. */
const MAX_COUNTED_STARTS = 1000;
/** Searching for a longer text could itself take the product of both lengths. */
const MAX_PREFIX_CHARS = 16;

function startsIn(text: string, shape: PatternShape, everywhere: number): number {
  if (shape.anchored) return 1;
  const prefix = shape.prefix.slice(0, MAX_PREFIX_CHARS);
  if (prefix === '') return everywhere;
  let starts = 0;
  for (let at = text.indexOf(prefix); at !== -1; at = text.indexOf(prefix, at + 1)) {
    starts += 1;
    if (starts > MAX_COUNTED_STARTS) return everywhere;
  }
  return starts;
}

/** null if the pattern has no known bound, or is not valid. */
export function patternShape(text: string): PatternShape | null {
  const { flags, source: pattern } = patternParts(text);
  const reader: Reader = { pattern, at: 0, prefix: '', prefixOpen: true };
  const shape = readAlternatives(reader, 0);
  if (shape === null || reader.at < pattern.length) return null;
  const isSingle = !/[|]/.test(pattern);
  return {
    ...shape,
    // With the flag m, `^` is also after each line break.
    anchored: isSingle && pattern.startsWith('^') && !flags.includes('m'),
    prefix: isSingle && !flags.includes('i') ? reader.prefix : '',
  };
}

interface Reader {
  readonly pattern: string;
  at: number;
  prefix: string;
  /** Whether all atoms so far are literal characters. */
  prefixOpen: boolean;
}

const MAX_DEPTH = 20;
const MAX_ATOMS = 2000;
const MAX_PATHS = 1e6;
const EMPTY: Shape = { paths: 1, degree: 0, atoms: 0 };

function readAlternatives(reader: Reader, depth: number): Shape | null {
  if (depth > MAX_DEPTH) return null;
  let sum: Shape | null = null;
  for (;;) {
    const branch = readSequence(reader, depth);
    if (branch === null) return null;
    sum = sum === null ? branch : either(sum, branch);
    if (reader.pattern[reader.at] !== '|') return sum;
    reader.at += 1;
  }
}

function readSequence(reader: Reader, depth: number): Shape | null {
  let whole = EMPTY;
  while (reader.at < reader.pattern.length && !'|)'.includes(reader.pattern.charAt(reader.at))) {
    const start = reader.at;
    const atom = readAtom(reader, depth);
    if (atom === null) return null;
    const literal = reader.at === start + 1 ? reader.pattern.charAt(start) : '';
    const repeated = readQuantifier(reader, atom);
    if (repeated === null) return null;
    trackPrefix(
      reader,
      /[\w\s"'<>=:,;/#%&!@~`-]/.test(literal) && repeated === atom ? literal : '',
    );
    whole = both(whole, repeated);
    if (whole.atoms > MAX_ATOMS || whole.paths > MAX_PATHS) return null;
  }
  return whole;
}

function trackPrefix(reader: Reader, literal: string): void {
  if (literal === '') reader.prefixOpen = false;
  if (reader.prefixOpen) reader.prefix += literal;
}

const ONE: Shape = { paths: 1, degree: 0, atoms: 1 };
const SIMPLE_ESCAPE = /\\(?:[dDwWsSbBtnrvf]|x[\da-fA-F]{2}|u[\da-fA-F]{4}|[^\w\s])/y;
const CLASS = /\[(?:[^\]\\]|\\.)*\]/sy;
const GROUP_OPENING = /\((?:\?:|\?<[A-Za-z]\w*>|(?!\?))/y;

function readAtom(reader: Reader, depth: number): Shape | null {
  const char = reader.pattern.charAt(reader.at);
  if (char === '\\') return skip(reader, SIMPLE_ESCAPE) ? ONE : null;
  if (char === '[') return skip(reader, CLASS) ? ONE : null;
  if (char === '(') {
    reader.prefixOpen = false;
    if (!skip(reader, GROUP_OPENING)) return null;
    const inner = readAlternatives(reader, depth + 1);
    if (inner === null || reader.pattern[reader.at] !== ')') return null;
    reader.at += 1;
    return both(inner, ONE);
  }
  if ('*+?{}'.includes(char)) return null;
  reader.at += 1;
  return ONE;
}

const QUANTIFIER = /(?:([*+?])|\{(\d{1,4})(,(\d{1,4})?)?\})\??/y;

function readQuantifier(reader: Reader, atom: Shape): Shape | null {
  QUANTIFIER.lastIndex = reader.at;
  const match = QUANTIFIER.exec(reader.pattern);
  if (match === null) return atom;
  reader.at = QUANTIFIER.lastIndex;
  const [, sign, least, comma, most] = match;
  const min = sign === undefined ? Number(least) : sign === '+' ? 1 : 0;
  const max = maxOf(sign, min, comma, most);
  if (max === 1) return either(atom, EMPTY);
  // Repeating something that can match in several ways takes exponential time.
  if (atom.paths > 1 || atom.degree > 0) return null;
  if (max === null) return { paths: 1, degree: 1, atoms: atom.atoms * (min + 1) };
  return { paths: Math.max(1, max - min + 1), degree: 0, atoms: atom.atoms * max };
}

/** null if there is no upper bound. */
function maxOf(
  sign: string | undefined,
  min: number,
  comma: string | undefined,
  most: string | undefined,
): number | null {
  if (sign !== undefined) return sign === '?' ? 1 : null;
  if (comma === undefined) return min;
  return most === undefined ? null : Number(most);
}

function skip(reader: Reader, what: RegExp): boolean {
  what.lastIndex = reader.at;
  if (!what.test(reader.pattern)) return false;
  reader.at = what.lastIndex;
  return true;
}

function both(left: Shape, right: Shape): Shape {
  return {
    paths: left.paths * right.paths,
    degree: left.degree + right.degree,
    atoms: left.atoms + right.atoms,
  };
}

function either(left: Shape, right: Shape): Shape {
  return {
    paths: left.paths + right.paths,
    degree: Math.max(left.degree, right.degree),
    atoms: left.atoms + right.atoms,
  };
}
