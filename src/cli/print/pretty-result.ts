import { type CheckResult, MISSED_REASONS, type MissedSlots } from '../../model/result.ts';
import { type RunResult, runResultOf } from '../../model/run-result.ts';
import type { Palette } from './colour.ts';
import { durationText } from './duration.ts';
import { harmless } from './harmless.ts';
import { answerOf, assertionErrorsOf, detailOf, phasesOf } from './result-facts.ts';

const LABELS: Readonly<Record<RunResult, string>> = {
  passed: 'PASS',
  degraded: 'SLOW',
  failed: 'FAIL',
  error: 'ERROR',
  cancelled: 'STOPPED',
};
const LABEL_WIDTH = 8;
const MAX_ASSERTIONS = 10;
const MAX_SKIPPED = 10;

/**
 * A result for people: one line with how it ended, and under it a line for each reason where it
 * did not pass. Nothing that a target sent can steer the terminal. Ends with a line feed.
 */
export function prettyResult(result: CheckResult, palette: Palette): string {
  const ended = runResultOf(result);
  const lines = [headline(result, ended, palette)];
  if (ended !== 'passed') lines.push(...reasonsOf(result, ended).map((line) => indented(line)));
  return `${lines.join('\n')}\n`;
}

/** Slots that were not run, and why. Ends with a line feed. */
export function prettyMissed({ checkId, count, reason }: MissedSlots, palette: Palette): string {
  const times = count === 1 ? '' : ` ${count} times`;
  const label = palette.warning('MISSED'.padEnd(LABEL_WIDTH));
  return `${label}${harmless(checkId)}${times}: ${reason}: ${MISSED_REASONS[reason]}\n`;
}

/** The checks that were left out, and how to have them. Ends with a line feed. */
export function prettySkipped(ids: readonly string[], palette: Palette): string {
  const named = ids.slice(0, MAX_SKIPPED).map((id) => harmless(id));
  const more = ids.length > named.length ? ` and ${ids.length - named.length} more` : '';
  const label = palette.faint('SKIPPED'.padEnd(LABEL_WIDTH));
  return `${label}not activated: ${named.join(', ')}${more} (run one with --check ID)\n`;
}

function headline(result: CheckResult, ended: RunResult, palette: Palette): string {
  const { name, checkId, checkType, responseTime } = result;
  const id = name === checkId ? '' : palette.faint(` (${harmless(checkId)})`);
  const phases = phasesOf(result).map(([phase, ms]) => `${phase} ${durationText(ms)}`);
  const facts = [
    answerOf(result),
    durationText(responseTime),
    attemptsText(result),
    phases.length > 1 ? palette.faint(phases.join(' · ')) : null,
  ];
  const text = facts.filter((fact) => fact !== null).join('  ');
  return `${label(result, ended, palette)}${palette.strong(harmless(name))}${id}  ${checkType}  ${text}`;
}

function label(result: CheckResult, ended: RunResult, palette: Palette): string {
  if (result.resultType === 'ATTEMPT') return palette.warning('RETRY'.padEnd(LABEL_WIDTH));
  const text = LABELS[ended].padEnd(LABEL_WIDTH);
  if (ended === 'passed') return palette.good(text);
  return ended === 'degraded' ? palette.warning(text) : palette.bad(text);
}

function attemptsText({ resultType, attempts }: CheckResult): string | null {
  if (resultType === 'ATTEMPT') return `attempt ${attempts + 1}, another follows`;
  if (attempts === 0) return null;
  return `after ${attempts} ${attempts === 1 ? 'retry' : 'retries'}`;
}

function reasonsOf(result: CheckResult, ended: RunResult): readonly string[] {
  if (ended === 'cancelled') return ['the run was cut short'];
  const detail = detailOf(result);
  const reasons: string[] = [];
  if (detail !== null && detail.requestError !== null) {
    reasons.push(`${detail.requestErrorCode ?? 'ERROR'}: ${detail.requestError}`);
  }
  // Where nothing came, each assertion would only say so once more.
  const failed = reasons.length > 0 && answerOf(result) === null ? [] : assertionErrorsOf(result);
  reasons.push(...failed.slice(0, MAX_ASSERTIONS));
  if (failed.length > MAX_ASSERTIONS) {
    reasons.push(`and ${failed.length - MAX_ASSERTIONS} more assertions`);
  }
  if (result.overMaxResponseTime) reasons.push('slower than its maxResponseTime');
  if (ended === 'degraded') reasons.push(degradedText(result));
  return reasons.length > 0 ? reasons : [criterionText(result)];
}

function degradedText({ icmpCheckResult }: CheckResult): string {
  const loss = icmpCheckResult?.response?.packetLoss;
  return loss === undefined
    ? 'slower than its degradedResponseTime'
    : `${loss} % of the echoes were lost: its degradedPacketLossThreshold is reached`;
}

/** Without an error, an assertion or a threshold, it was the criterion of the check's type. */
function criterionText(result: CheckResult): string {
  const answer = answerOf(result) ?? 'no answer';
  const loss = result.icmpCheckResult?.response?.packetLoss;
  const seen = loss === undefined ? answer : `${answer}, ${loss} % lost`;
  return `${seen} is not what the check asks for`;
}

function indented(reason: string): string {
  return `${' '.repeat(LABEL_WIDTH)}${harmless(reason)}`;
}
