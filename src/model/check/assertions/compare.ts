import type { Comparison } from './assertion.ts';
import { type NumericOrder, numericOrder } from './numeric.ts';
import { parseStatuses } from './statuses.ts';

/** Whether a value of a response meets one assertion. */
export type Predicate = (actual: unknown) => boolean;

/** A long text is searched in pieces, so that a time limit can interrupt the search. */
const SEARCH_CHARS = 65_536;

/**
 * The comparisons of src/model/README.md, "Assertions". Values are JSON values; no match is null.
 * Each negative comparison (NOT_…) is the exact opposite of its positive one, also for null.
 */
export function comparisonWith(comparison: Comparison, target: string): Predicate {
  switch (comparison) {
    case 'EQUALS':
      return equalTo(target);
    case 'NOT_EQUALS':
      return not(equalTo(target));
    case 'ONE_OF':
      return oneOf(target);
    case 'HAS_KEY':
      return (actual) => hasKey(actual, target);
    case 'NOT_HAS_KEY':
      return (actual) => !hasKey(actual, target);
    case 'HAS_VALUE':
      return hasValue(target);
    case 'NOT_HAS_VALUE':
      return not(hasValue(target));
    case 'IS_EMPTY':
      return isEmpty;
    case 'NOT_EMPTY':
      return not(isEmpty);
    case 'GREATER_THAN':
      return ordered(target, (order) => order > 0);
    case 'LESS_THAN':
      return ordered(target, (order) => order < 0);
    case 'CONTAINS':
      return containing(target);
    case 'NOT_CONTAINS':
      return not(containing(target));
    case 'IS_NULL':
      return isNull;
    case 'NOT_NULL':
      return not(isNull);
  }
}

function not(predicate: Predicate): Predicate {
  return (actual) => !predicate(actual);
}

function isNull(actual: unknown): boolean {
  return actual === null;
}

/** '', [], {} and null. */
function isEmpty(actual: unknown): boolean {
  if (actual === null || actual === '') return true;
  if (Array.isArray(actual)) return actual.length === 0;
  return isObject(actual) && Object.keys(actual).length === 0;
}

/**
 * Compares numbers if both sides are numeric, lists and objects by structure if the target is JSON
 * for one, everything else as text.
 */
function equalTo(target: string): Predicate {
  const order = numericOrder(target);
  let structure: Structure | null = null;
  return (actual) => {
    if (isObject(actual)) {
      structure ??= structureOf(target);
      return structure.value !== null && deepEqual(actual, structure.value, structure.sizes);
    }
    return scalarText(actual) === target || order(actual) === 0;
  };
}

/** A status in a list of statuses and ranges. */
function oneOf(target: string): Predicate {
  const ranges = parseStatuses(target) ?? [];
  const isIn = (status: number): boolean =>
    ranges.some(([first, last]) => status >= first && status <= last);
  return (actual) => typeof actual === 'number' && isIn(actual);
}

/** Own keys of an object; positions of a list, from 0. */
function hasKey(actual: unknown, key: string): boolean {
  if (Array.isArray(actual)) return /^\d{1,9}$/.test(key) && Number(key) < actual.length;
  return isObject(actual) && Object.hasOwn(actual, key);
}

/** An element of a list, a value of an object, or a single value equals the target. */
function hasValue(target: string): Predicate {
  const equals = equalTo(target);
  return (actual) => {
    if (Array.isArray(actual)) return actual.some(equals);
    return isObject(actual)
      ? Object.values(actual).some(equals)
      : actual !== null && equals(actual);
  };
}

/**
 * A text contains the target, a list has it as an element, an object contains it in its JSON text.
 */
function containing(target: string): Predicate {
  const equals = equalTo(target);
  return (actual) => {
    if (actual === null) return false;
    if (Array.isArray(actual)) return actual.some(equals);
    return includes(isObject(actual) ? JSON.stringify(actual) : scalarText(actual), target);
  };
}

/** V8's search can take the product of both lengths and cannot be interrupted. */
function includes(text: string, target: string): boolean {
  if (text.length <= SEARCH_CHARS + target.length) return text.includes(target);
  for (let from = 0; from < text.length; from += SEARCH_CHARS) {
    if (text.slice(from, from + SEARCH_CHARS + target.length).includes(target)) return true;
  }
  return false;
}

/** null, lists and objects are neither greater nor less. */
function ordered(target: string, holds: (order: number) => boolean): Predicate {
  const numeric = numericOrder(target);
  return (actual) =>
    actual !== null && !isObject(actual) && holds(orderOf(actual, target, numeric));
}

/** Over 0 if the value is greater than the target, under 0 if it is less, 0 if they are equal. */
function orderOf(actual: unknown, target: string, numeric: NumericOrder): number {
  const asNumbers = numeric(actual);
  if (asNumbers !== null) return asNumbers;
  const text = scalarText(actual);
  if (text === target) return 0;
  return text > target ? 1 : -1;
}

function scalarText(actual: unknown): string {
  return typeof actual === 'string' ? actual : String(actual);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

interface Structure {
  /** The list or object that the target is JSON for; null for any other target. */
  readonly value: object | null;
  /** The number of members of each list and object in it, counted once for all comparisons. */
  readonly sizes: ReadonlyMap<object, number>;
}

function structureOf(target: string): Structure {
  const sizes = new Map<object, number>();
  let value: unknown;
  try {
    value = JSON.parse(target);
  } catch {
    return { value: null, sizes };
  }
  const left = [value];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (!isObject(next)) continue;
    const members: unknown[] = Object.values(next);
    sizes.set(next, members.length);
    for (const member of members) left.push(member);
  }
  return { value: isObject(value) ? value : null, sizes };
}

/**
 * Whether a value of a response equals the target's structure. Takes time in proportion to the
 * value, whatever the target: comparing all values of a list costs no more than reading them. Not
 * recursive: a target of 10,000 characters can be nested deeper than the stack allows.
 */
function deepEqual(value: object, target: object, sizes: Structure['sizes']): boolean {
  const pairs: (readonly [unknown, unknown])[] = [[value, target]];
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [one, other] = pair;
    if (!isObject(one) || !isObject(other)) {
      if (one !== other) return false;
      continue;
    }
    if (Array.isArray(one) !== Array.isArray(other)) return false;
    const keys = Object.keys(one);
    if (keys.length !== sizes.get(other)) return false;
    for (const key of keys) {
      if (!Object.hasOwn(other, key)) return false;
      pairs.push([memberOf(one, key), memberOf(other, key)]);
    }
  }
  return true;
}

function memberOf(object: object, key: string): unknown {
  return (object as Record<string, unknown>)[key];
}
