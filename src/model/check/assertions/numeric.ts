/** Longer texts do not count as numbers. */
const MAX_CHARS = 400;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,4})?$/i;
const INTEGER = /^[+-]?\d+$/;

/** The number in a text, which may have spaces around it; null if it is not a number. */
export function parseNumber(text: string): number | null {
  if (text.length > MAX_CHARS) return null;
  const trimmed = text.trim();
  if (!NUMBER.test(trimmed)) return null;
  const value = Number(trimmed);
  return Number.isFinite(value) ? value : null;
}

/** Over 0 if a value is greater than the number, under 0 if it is less, 0 if they are equal. */
export type NumericOrder = (actual: unknown) => number | null;

/**
 * Compares values with the number in `target`; null if either is not a number. Compares integers
 * given as text exactly, beyond the precision of a double. Parses the target once for all values.
 */
export function numericOrder(target: string): NumericOrder {
  const right = parseNumber(target);
  if (right === null) return () => null;
  return (actual) => {
    const left = typeof actual === 'string' ? parseNumber(actual) : actual;
    if (typeof left !== 'number') return null;
    if (left !== right || typeof actual !== 'string') return left - right;
    const [exactLeft, exactRight] = [integerOf(actual), integerOf(target)];
    if (exactLeft === null || exactRight === null || exactLeft === exactRight) return 0;
    return exactLeft > exactRight ? 1 : -1;
  };
}

function integerOf(text: string): bigint | null {
  const trimmed = text.trim();
  if (!INTEGER.test(trimmed)) return null;
  // BigInt takes no plus sign.
  return BigInt(trimmed.replace(/^\+/, ''));
}
