import type { Check } from '../../model/check/check.ts';
import { adviceOf } from '../../model/result/advice.ts';
import { MISSED_REASONS, type MissedSlots } from '../../model/result/missed-slots.ts';
import { reasonsOf } from '../../model/result/reasons.ts';
import type { CheckResult } from '../../model/result/result.ts';
import { responseSummaryOf, shownPhases } from '../../model/result/result-summary.ts';
import { type RunResult, runResultOf } from '../../model/result/run-result.ts';
import { countText } from '../../runtime/text/count-text.ts';
import type { Palette } from './colour.ts';
import { fits, lineWithName, wrapped } from './columns.ts';
import { terminalSafe } from './terminal-safe.ts';
import { dayOf, prettyDuration, timeOfDay } from './time-text.ts';

/** How a run ended, in one word of at most LABEL_WIDTH characters. */
export const RUN_LABELS: Readonly<Record<RunResult, string>> = {
  passed: 'PASS',
  degraded: 'SLOW',
  failed: 'FAIL',
  error: 'ERROR',
  cancelled: 'STOPPED',
};
export const LABEL_WIDTH = 8;
const MAX_SKIPPED = 10;
/** Maximum number of characters of the listed ids. */
const MAX_SKIPPED_CHARS = 2_000;
/** Enough for the error of an API, in up to three lines of a terminal. */
const MAX_BODY_CHARS = 200;
/** Responses with this or a higher status often explain the error. */
const FIRST_ERROR_STATUS = 400;

/**
 * Formats a result for people: one line with the outcome and, if it did not pass, a line for each reason, the
 * beginning of an error response, and what to try. Text from a target cannot control the terminal. Ends with a line
 * feed.
 *
 * @param check the check that ran, if known
 * @param width columns of the terminal; null for lines of any length
 */
export function prettyResult(
  result: CheckResult,
  check: Check | undefined,
  palette: Palette,
  width: number | null = null,
): string {
  const ended = runResultOf(result);
  const lines = [headline(result, ended, palette, width)];
  if (ended !== 'passed') {
    // Another type under the same id is another check.
    const same = check?.checkType === result.checkType ? check : null;
    lines.push(...reasonsOf(result, ended, same).flatMap((line) => indented(line, width)));
    // No advice for other attempts, since another one follows.
    const isLast = result.resultType === 'FINAL';
    const body = isLast && ended === 'failed' ? errorBodyOf(result) : null;
    if (body !== null) lines.push(...indented(`body: ${body}`, width));
    const advice = isLast ? adviceOf(result) : null;
    if (advice !== null) {
      lines.push(...indented(`try: ${advice.advice}`, width).map((line) => palette.faint(line)));
    }
  }
  return `${lines.join('\n')}\n`;
}

/**
 * Formats slots that were not run, and why. Ends with a line feed.
 *
 * @param width see prettyResult
 */
export function prettyMissed(
  missed: MissedSlots,
  check: Check | undefined,
  palette: Palette,
  width: number | null = null,
): string {
  const { checkId, reason } = missed;
  const label = palette.warning('MISSED'.padEnd(LABEL_WIDTH));
  const who = nameAndId(check?.name ?? checkId, checkId, palette);
  const why = `${MISSED_REASONS[reason].replace(/\.$/, '')} (${reason})`;
  const after = `  ${slotsText(missed)}: ${why}`;
  return `${lineWithName({ before: label, name: who, after }, width)}\n`;
}

/**
 * Formats the checks that were skipped, and how to run one. Ends with a line feed.
 *
 * @param width see prettyResult
 */
export function prettySkipped(
  ids: readonly string[],
  palette: Palette,
  width: number | null = null,
): string {
  const named = ids.slice(0, MAX_SKIPPED).map((id) => terminalSafe(id));
  const more = ids.length > named.length ? ` and ${ids.length - named.length} more` : '';
  const label = palette.faint('SKIPPED'.padEnd(LABEL_WIDTH));
  const text = `not activated: ${named.join(', ')}${more} (run one with --check ID)`;
  const [first = '', ...others] = indented(text, width, MAX_SKIPPED_CHARS);
  return `${[`${label}${first.slice(LABEL_WIDTH)}`, ...others].join('\n')}\n`;
}

function headline(
  result: CheckResult,
  ended: RunResult,
  palette: Palette,
  width: number | null,
): string {
  const { name, checkId, checkType, responseTime } = result;
  const phases = shownPhases(result).map(([phase, ms]) => `${phase} ${prettyDuration(ms)}`);
  const facts = [responseSummaryOf(result), prettyDuration(responseTime), attemptsText(result)];
  const text = facts.filter((fact) => fact !== null).join('  ');
  const parts = {
    before: label(result, ended, palette),
    name: nameAndId(name, checkId, palette),
    after: `  ${checkType}  ${text}`,
  };
  const line = lineWithName(parts, null);
  const whole = phases.length > 1 ? `${line}  ${palette.faint(phases.join(' · '))}` : line;
  if (width === null || fits(whole, width)) return whole;
  return lineWithName(parts, width);
}

/**
 * Returns the beginning of the body of an error response, on one line; null without a body, or if the message of an
 * assertion already shows it.
 */
export function errorBodyOf({ apiCheckResult }: CheckResult): string | null {
  const response = apiCheckResult?.response;
  if (!response || response.status < FIRST_ERROR_STATUS || response.bodyEncoding !== 'text') {
    return null;
  }
  const isShown = apiCheckResult?.assertions.some(
    ({ source, error }) => source === 'TEXT_BODY' && error !== null,
  );
  const text = (response.body ?? '').trim().replaceAll(/\s+/g, ' ');
  if (isShown || text === '') return null;
  return text.length <= MAX_BODY_CHARS ? text : `${text.slice(0, MAX_BODY_CHARS)}…`;
}

function nameAndId(name: string, id: string, palette: Palette): string {
  const rest = name === id ? '' : palette.faint(` (${terminalSafe(id)})`);
  return palette.strong(terminalSafe(name)) + rest;
}

function slotsText({ slot, lastSlot, count }: MissedSlots): string {
  if (count === 1) return `slot ${timeOfDay(slot)}`;
  const isOneDay = new Date(slot).toDateString() === new Date(lastSlot).toDateString();
  const text = (ms: number): string => (isOneDay ? '' : `${dayOf(ms)} `) + timeOfDay(ms);
  return `${count} slots, ${text(slot)} to ${text(lastSlot)}`;
}

function label(result: CheckResult, ended: RunResult, palette: Palette): string {
  if (result.resultType === 'ATTEMPT') return palette.warning('RETRY'.padEnd(LABEL_WIDTH));
  return paintOfRun(ended, palette)(RUN_LABELS[ended].padEnd(LABEL_WIDTH));
}

/** The colour for the outcome of a run. */
export function paintOfRun(ended: RunResult, palette: Palette): (text: string) => string {
  if (ended === 'passed') return palette.good;
  return ended === 'degraded' ? palette.warning : palette.bad;
}

function attemptsText({ resultType, attempts }: CheckResult): string | null {
  if (resultType === 'ATTEMPT') return `attempt ${attempts + 1}, another follows`;
  if (attempts === 0) return null;
  return `after ${countText(attempts, 'retry', 'retries')}`;
}

function indented(text: string, width: number | null, maxChars?: number): readonly string[] {
  const safe = terminalSafe(text, maxChars);
  const lines = width === null ? [safe] : wrapped(safe, width - LABEL_WIDTH);
  return lines.map((line) => `${' '.repeat(LABEL_WIDTH)}${line}`);
}
