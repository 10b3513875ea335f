import type { CheckResult, MissedSlots } from '../../model/result/result.ts';

/**
 * What could steer a terminal and JSON leaves as it is: DEL, the C1 controls (U+009B does what
 * ESC [ does), and the marks that change the direction of writing.
 */
const UNESCAPED = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** The specification's result object on one line that can be printed on a terminal. */
export function jsonResult(result: CheckResult): string {
  return lineOf(result);
}

/** Replaces a result where a check could not run. */
export function jsonMissed(missed: MissedSlots): string {
  return lineOf({ missed });
}

function lineOf(value: unknown): string {
  const json = JSON.stringify(value).replace(
    UNESCAPED,
    (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
  return `${json}\n`;
}
