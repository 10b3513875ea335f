import type { Comparison } from '../../model/assertion.ts';
import { compareNumeric } from './numeric.ts';

/** Whether a value out of a response meets one assertion. */
export type Predicate = (actual: unknown) => boolean;

/** Pieces that a long text is searched in, so that a search can be interrupted between them. */
const SEARCH_CHARS = 65_536;

/**
 * The meaning of the fourteen comparisons (SEMANTICS 1, Assertions). A value is what JSON can
 * hold; no match is null. Each negative comparison (NOT_…) is exactly the opposite of its
 * positive one, also for null.
 */
export function comparisonWith(comparison: Comparison, target: string): Predicate {
  switch (comparison) {
    case 'EQUALS':
      return equalTo(target);
    case 'NOT_EQUALS':
      return not(equalTo(target));
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
      return (actual) => (order(actual, target) ?? 0) > 0;
    case 'LESS_THAN':
      return (actual) => (order(actual, target) ?? 0) < 0;
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
 * Numbers as numbers where both sides are numeric, lists and objects by their structure where the
 * target is JSON for one, all else as text.
 */
function equalTo(target: string): Predicate {
  let structure: unknown;
  return (actual) => {
    if (isObject(actual)) {
      structure ??= structureOf(target);
      return isObject(structure) && deepEqual(actual, structure);
    }
    return scalarText(actual) === target || compareNumeric(actual, target) === 0;
  };
}

/** Own keys of an object; the positions of a list, from 0. */
function hasKey(actual: unknown, key: string): boolean {
  if (Array.isArray(actual)) return /^\d{1,9}$/.test(key) && Number(key) < actual.length;
  return isObject(actual) && Object.hasOwn(actual, key);
}

/** An element of a list or a value of an object equals the target; a single value is its own. */
function hasValue(target: string): Predicate {
  const equals = equalTo(target);
  return (actual) => {
    if (Array.isArray(actual)) return actual.some(equals);
    return isObject(actual)
      ? Object.values(actual).some(equals)
      : actual !== null && equals(actual);
  };
}

/** A text holds the target somewhere, a list has it as an element, an object in its JSON text. */
function containing(target: string): Predicate {
  const equals = equalTo(target);
  return (actual) => {
    if (actual === null) return false;
    if (Array.isArray(actual)) return actual.some(equals);
    return includes(isObject(actual) ? JSON.stringify(actual) : scalarText(actual), target);
  };
}

/** V8's search can take the product of both lengths and cannot be stopped on its way. */
function includes(text: string, target: string): boolean {
  if (text.length <= SEARCH_CHARS + target.length) return text.includes(target);
  for (let from = 0; from < text.length; from += SEARCH_CHARS) {
    if (text.slice(from, from + SEARCH_CHARS + target.length).includes(target)) return true;
  }
  return false;
}

/** Above, below or at 0; null where the value has no order: null, lists and objects. */
function order(actual: unknown, target: string): number | null {
  if (actual === null || isObject(actual)) return null;
  const numeric = compareNumeric(actual, target);
  if (numeric !== null) return numeric;
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

/** The list or object that the target is JSON for; false where it is something else. */
function structureOf(target: string): unknown {
  try {
    const value: unknown = JSON.parse(target);
    return isObject(value) ? value : false;
  } catch {
    return false;
  }
}

/** Without recursion: a target of 10,000 characters can be nested deeper than the stack is. */
function deepEqual(left: unknown, right: unknown): boolean {
  const pairs: (readonly [unknown, unknown])[] = [[left, right]];
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [one, other] = pair;
    if (!isObject(one) || !isObject(other)) {
      if (one !== other) return false;
      continue;
    }
    const keys = Object.keys(one);
    if (Array.isArray(one) !== Array.isArray(other)) return false;
    if (keys.length !== Object.keys(other).length) return false;
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
