import type { CheckResult } from '../../model/result/result.ts';
import { certificateOf } from '../../model/result/tls-facts.ts';

/** The values of metrics from the last run of a check that judged its target. */
export interface JudgedRun {
  readonly isUp: boolean;
  readonly responseSeconds: number;
  /** Seconds since the epoch. */
  readonly stoppedSeconds: number;
  readonly attempts: number;
  /** The status of a URL or API check; null without a response. */
  readonly statusCode: number | null;
  readonly errorCode: string | null;
  /** Each phase that the run reached, and the total, in milliseconds. */
  readonly phasesMs: object | null;
  /** 0 to 1; null if no echo request was sent. */
  readonly packetLoss: number | null;
}

export interface CertificateTimes {
  /** Seconds since the epoch. */
  readonly expirySeconds: number;
  readonly daysRemaining: number;
}

export function judgedRunOf(result: CheckResult): JudgedRun {
  const { apiCheckResult, icmpCheckResult, responseTime } = result;
  const detail = detailOf(result);
  const lossPercent = icmpCheckResult?.response?.packetLoss;
  return {
    isUp: !result.hasFailures,
    responseSeconds: responseTime / 1000,
    stoppedSeconds: Date.parse(result.stoppedAt) / 1000,
    attempts: result.attempts + 1,
    statusCode: apiCheckResult?.response?.status ?? null,
    errorCode: detail?.requestErrorCode ?? null,
    phasesMs: phasesOf(result),
    packetLoss: lossPercent === undefined ? null : lossPercent / 100,
  };
}

/**
 * The certificate of the target; null if it has none, undefined if that is unknown: while the
 * target does not answer, the last expiry stays visible.
 */
export function certificateTimesOf(result: CheckResult): CertificateTimes | null | undefined {
  const certificate = certificateOf(result);
  if (certificate !== null) {
    const { validTo, daysRemaining } = certificate;
    return { expirySeconds: Date.parse(validTo) / 1000, daysRemaining };
  }
  const { apiCheckResult, tcpCheckResult, dnsCheckResult } = result;
  return (apiCheckResult ?? tcpCheckResult ?? dnsCheckResult)?.response === null ? undefined : null;
}

function detailOf(result: CheckResult) {
  const { apiCheckResult, tcpCheckResult, dnsCheckResult, icmpCheckResult } = result;
  return apiCheckResult ?? tcpCheckResult ?? dnsCheckResult ?? icmpCheckResult;
}

function phasesOf(result: CheckResult): JudgedRun['phasesMs'] {
  const { apiCheckResult, tcpCheckResult, dnsCheckResult, icmpCheckResult } = result;
  return (
    apiCheckResult?.response?.timingPhases ??
    apiCheckResult?.timingPhases ??
    tcpCheckResult?.timingPhases ??
    dnsCheckResult?.timingPhases ??
    icmpCheckResult?.timingPhases ??
    null
  );
}

/** Each phase of a run with its seconds, without the total: that is the response time. */
export function phaseSecondsOf({
  phasesMs,
}: JudgedRun): readonly (readonly [phase: string, seconds: number])[] {
  if (phasesMs === null) return [];
  return Object.entries(phasesMs)
    .filter(([phase]) => phase !== 'total')
    .map(([phase, ms]) => [PHASE_NAMES[phase] ?? phase, Number(ms) / 1000]);
}

/** Names of labels and their values are in snake case, as is usual in Prometheus. */
const PHASE_NAMES: Readonly<Record<string, string>> = { firstByte: 'first_byte' };
