import { isIP, SocketAddress } from 'node:net';
import type { Comparison } from '../assertion.ts';
import { comparisonWith } from '../compare.ts';
import { parseNumber } from '../numeric.ts';

/** The values that an assertion may have to compare. */
export interface Values {
  /** A main clause for messages, such as `it is true or false`. */
  readonly what: string;
  /** Whether a value can meet the comparison. */
  readonly canMeet: (comparison: Comparison, target: string) => boolean;
  /** Advice on `property`, if another one has other values. */
  readonly instead?: string;
}

/** A few values that are known. */
export function listOf(what: string, values: readonly unknown[]): Values {
  return {
    what,
    canMeet: (comparison, target) => values.some(comparisonWith(comparison, target)),
  };
}

/** The characters of numbers as text. */
const PART_OF_NUMBER = /^[\d.e+-]*$/;

export function millisecondsOf(what: string, isNullable: boolean): Values {
  return {
    what,
    canMeet(comparison, target) {
      const number = parseNumber(target);
      switch (comparison) {
        case 'EQUALS':
          return (number !== null && number >= 0) || (isNullable && target === 'null');
        case 'HAS_VALUE':
          return number !== null && number >= 0;
        case 'GREATER_THAN':
          return number !== null;
        case 'LESS_THAN':
          return number !== null && number > 0;
        case 'CONTAINS':
          return PART_OF_NUMBER.test(target);
        case 'IS_NULL':
        case 'IS_EMPTY':
          return isNullable;
        default:
          return comparison !== 'HAS_KEY';
      }
    },
  };
}

/** Whole numbers from `min`, or also null. */
export function wholeNumbersOf(what: string, min: number, isNullable: boolean): Values {
  return {
    what,
    canMeet(comparison, target) {
      const number = parseNumber(target);
      switch (comparison) {
        case 'EQUALS':
        case 'HAS_VALUE':
          if (number === null) return isNullable && comparison === 'EQUALS' && target === 'null';
          return Number.isInteger(number) && number >= min;
        case 'GREATER_THAN':
          return number !== null;
        case 'LESS_THAN':
          return number !== null && number > min;
        case 'CONTAINS':
          return PART_OF_NUMBER.test(target);
        case 'IS_NULL':
        case 'IS_EMPTY':
          return isNullable;
        default:
          return comparison !== 'HAS_KEY';
      }
    },
  };
}

export const NUMBER_PARTS: Values = {
  what: 'it is a part of a number, or null',
  canMeet: numberPartMeets,
};

function numberPartMeets(comparison: Comparison, target: string): boolean {
  const isPart = PART_OF_NUMBER.test(target);
  switch (comparison) {
    case 'EQUALS':
      return isPart || parseNumber(target) !== null || target === 'null';
    case 'HAS_VALUE':
      return isPart || parseNumber(target) !== null;
    case 'CONTAINS':
      return isPart;
    case 'LESS_THAN':
      return target !== '';
    default:
      return comparison !== 'HAS_KEY';
  }
}

export const ADDRESSES: Values = {
  what: 'it is an IP address, an IPv6 address in its shortest form (RFC 5952)',
  canMeet(comparison, target) {
    switch (comparison) {
      case 'EQUALS':
      case 'HAS_VALUE':
        return isShortestAddress(target);
      case 'CONTAINS':
        return /^[\da-f.:]*$/.test(target);
      case 'LESS_THAN':
        return target !== '';
      case 'GREATER_THAN':
      case 'NOT_EMPTY':
      case 'NOT_NULL':
        return true;
      default:
        return comparison.startsWith('NOT_');
    }
  },
};

/** The system writes addresses in their shortest form, and assertions compare them as text. */
function isShortestAddress(text: string): boolean {
  const family = isIP(text);
  if (family !== 6) return family === 4;
  return new SocketAddress({ family: 'ipv6', address: text }).address === text;
}

export function textsOf(what: string, isNullable: boolean): Values {
  return {
    what,
    canMeet(comparison, target) {
      if (comparison === 'IS_NULL') return isNullable;
      if (comparison === 'LESS_THAN') return target !== '';
      return comparison !== 'HAS_KEY';
    },
  };
}

export function objectMeets(comparison: Comparison, target: string): boolean {
  switch (comparison) {
    case 'EQUALS':
      return isJsonObject(target);
    case 'GREATER_THAN':
    case 'LESS_THAN':
    case 'IS_NULL':
    case 'IS_EMPTY':
      return false;
    default:
      return true;
  }
}

export function listMeets(comparison: Comparison, target: string): boolean {
  switch (comparison) {
    case 'EQUALS':
      return Array.isArray(jsonOf(target));
    case 'GREATER_THAN':
    case 'LESS_THAN':
    case 'IS_NULL':
      return false;
    default:
      return true;
  }
}

function isJsonObject(text: string): boolean {
  const value = jsonOf(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** undefined if the text is not JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
