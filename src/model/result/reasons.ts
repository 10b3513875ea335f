import type { Check } from '../check/check.ts';
import { unmetCriterion } from './criterion.ts';
import type { ErrorCode } from './error-codes.ts';
import type { CheckResult } from './result.ts';
import { detailOf, responseSummaryOf } from './result-summary.ts';
import type { RunResult } from './run-result.ts';

const MAX_ASSERTIONS = 10;

/** These codes already say that it took too long. */
const TIME_OUTS: ReadonlySet<ErrorCode | null> = new Set<ErrorCode>([
  'DNS_TIMEOUT',
  'CONNECT_TIMEOUT',
  'TLS_TIMEOUT',
  'RESPONSE_TIMEOUT',
  'BODY_TIMEOUT',
]);

/**
 * Why a run did not pass, one reason per line. The lines contain text of the target, unescaped.
 *
 * @param check the current definition, which may have changed since the run; null if it was deleted
 */
export function reasonsOf(
  result: CheckResult,
  ended: RunResult,
  check: Check | null,
): readonly string[] {
  if (ended === 'cancelled') return ['the run was cancelled'];
  const detail = detailOf(result);
  const reasons: string[] = [];
  if (detail !== null && detail.requestError !== null) {
    reasons.push(`${detail.requestErrorCode ?? 'ERROR'}: ${detail.requestError}`);
  }
  // Without a response, each assertion would only repeat that.
  const isSaid = reasons.length > 0 && responseSummaryOf(result) === null;
  const failed = isSaid ? [] : (detail?.assertions ?? []).filter(({ error }) => error !== null);
  const criterion = ended === 'failed' ? unmetCriterion(result, check) : null;
  // A failed assertion on the status names the status, too.
  const judgesIt = failed.some(({ source }) => source === 'STATUS_CODE');
  if (criterion !== null && !judgesIt) reasons.push(criterion);
  reasons.push(...failed.slice(0, MAX_ASSERTIONS).map(({ error }) => error ?? ''));
  if (failed.length > MAX_ASSERTIONS) {
    const more = failed.length - MAX_ASSERTIONS;
    reasons.push(`and ${more} more ${more === 1 ? 'assertion' : 'assertions'}`);
  }
  if (!TIME_OUTS.has(detail?.requestErrorCode ?? null)) {
    if (result.overMaxResponseTime) reasons.push(tooSlow(result, check, 'maxResponseTime'));
    if (ended === 'degraded') reasons.push(degradedText(result, check));
  }
  if (reasons.length > 0) return reasons;
  return [`${responseSummaryOf(result) ?? 'no answer'} is not what the check asks for`];
}

function degradedText(result: CheckResult, check: Check | null): string {
  const lossPercent = result.icmpCheckResult?.response?.packetLoss;
  if (lossPercent === undefined) return tooSlow(result, check, 'degradedResponseTime');
  const lost = `${lossPercent} % of the echoes were lost`;
  const from = check?.checkType === 'ICMP' ? check.degradedPacketLossThreshold : null;
  return from === null || lossPercent < from
    ? `${lost}: its degradedPacketLossThreshold is reached`
    : `${lost}, ${from} % or more: degraded`;
}

function tooSlow(
  { responseTime }: CheckResult,
  check: Check | null,
  field: 'maxResponseTime' | 'degradedResponseTime',
): string {
  const limitMs = check === null || check.checkType === 'ICMP' ? null : check[field];
  // The check may have changed during the run.
  if (limitMs === null || responseTime <= limitMs) return `slower than its ${field}`;
  const ended = field === 'maxResponseTime' ? 'failed' : 'degraded';
  return `${roundedOver(responseTime, limitMs)} ms, over ${limitMs} ms: ${ended}`;
}

/** With as many digits as needed to show that it is over the limit. */
function roundedOver(durationMs: number, limitMs: number): string {
  const texts = [0, 1, 2, 3].map((digits) => durationMs.toFixed(digits));
  return texts.find((text) => Number(text) > limitMs) ?? String(durationMs);
}
