/** Longer texts are no numbers that anybody compares. */
const MAX_CHARS = 400;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,4})?$/i;
const INTEGER = /^[+-]?\d+$/;

/** The number that a text is, with spaces around it allowed; null where it is none. */
export function numberOf(text: string): number | null {
  if (text.length > MAX_CHARS) return null;
  const trimmed = text.trim();
  if (!NUMBER.test(trimmed)) return null;
  const value = Number(trimmed);
  return Number.isFinite(value) ? value : null;
}

/** Above, below or at 0 as the value is larger than the number, smaller or the same. */
export type NumericOrder = (actual: unknown) => number | null;

/**
 * How values stand to the number that `target` is; null where either is no number. Whole numbers
 * given as text are compared to their last digit, beyond the precision of a double. The target is
 * read once for all the values of a document.
 */
export function numericOrder(target: string): NumericOrder {
  const right = numberOf(target);
  if (right === null) return () => null;
  return (actual) => {
    const left = typeof actual === 'string' ? numberOf(actual) : actual;
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
