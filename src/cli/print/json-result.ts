import type { CheckResult, MissedSlots } from '../../model/result.ts';

/** The specification's result object on one line, which JSON keeps free of control characters. */
export function jsonResult(result: CheckResult): string {
  return `${JSON.stringify(result)}\n`;
}

/** What stands in place of a result where a run could not be made. */
export function jsonMissed(missed: MissedSlots): string {
  return `${JSON.stringify({ missed })}\n`;
}
