import type { components } from '../../api/openapi.d.ts';
import type { MarkedState } from '../../parts/states/state-mark.tsx';

type Schemas = components['schemas'];

export type AnyCheck = Schemas['Check'];
/** A check that agents run: not a heartbeat. */
export type Check = Exclude<AnyCheck, Schemas['HeartbeatCheck']>;
export type CheckType = Check['checkType'];
export type CheckStatus = Schemas['CheckStatus'];
/** Without the details of types that no check has. */
export type Result = Omit<Schemas['CheckResult'], 'browserCheckResult' | 'multiStepCheckResult'>;
export type Run = Schemas['RunSummary'];
export type Attempt = Schemas['AttemptSummary'];
export type RunResult = Attempt['result'];
export type Explanation = Schemas['ResultExplanation'];
export type Artifact = Schemas['Artifact'];
export type AssertionResult = Schemas['AssertionResult'];
export type Trace = Schemas['Traceroute'];
export type Tls = Schemas['TlsDetails'];
export type MissedSlot = Schemas['MissedSlot'];

export type Detail =
  | Schemas['HttpCheckResult']
  | Schemas['TcpCheckResult']
  | Schemas['DnsCheckResult']
  | Schemas['IcmpCheckResult'];

/** The details of the check's type; null in a result that was cut for its length. */
export function detailOf(result: Result): Detail | null {
  return (
    result.apiCheckResult ??
    result.tcpCheckResult ??
    result.dnsCheckResult ??
    result.icmpCheckResult ??
    null
  );
}

/** How a run ended: a cancelled run or a fault of the agent judges nothing. */
export function runResultOf(result: Result): RunResult {
  if (result.isCancelled) return 'cancelled';
  if (result.hasErrors) return 'error';
  if (result.hasFailures) return 'failed';
  return result.isDegraded ? 'degraded' : 'passed';
}

export const RESULT_STATES: Readonly<Record<RunResult, MarkedState>> = {
  passed: 'passing',
  degraded: 'degraded',
  failed: 'failing',
  error: 'unknown',
  cancelled: 'unknown',
};
export const RESULT_WORDS: Readonly<Record<RunResult, string>> = {
  passed: 'Passed',
  degraded: 'Degraded',
  failed: 'Failed',
  error: 'Not judged',
  cancelled: 'Cancelled',
};

export interface Phase {
  /** As the API names it. */
  readonly name: string;
  readonly label: string;
  readonly ms: number;
}

/** In the order in which they happen. */
export const PHASE_LABELS: Readonly<Record<string, string>> = {
  wait: 'Wait',
  dns: 'DNS',
  tcp: 'TCP',
  connection: 'TCP',
  tls: 'TLS',
  firstByte: 'First byte',
  data: 'Data',
  download: 'Download',
  query: 'Query',
  echoes: 'Echoes',
};

/** Their sum is the total. */
export function phasesOf(result: Result): readonly Phase[] {
  const { apiCheckResult: http, tcpCheckResult: tcp, dnsCheckResult, icmpCheckResult } = result;
  const times: Readonly<Record<string, number>> = http
    ? (http.response?.timingPhases ?? http.timingPhases ?? {})
    : tcp
      ? tcp.timingPhases
      : dnsCheckResult
        ? dnsPhases(dnsCheckResult.timingPhases)
        : icmpCheckResult
          ? {
              dns: icmpCheckResult.timingPhases.dns,
              echoes: icmpCheckResult.timingPhases.total - icmpCheckResult.timingPhases.dns,
            }
          : {};
  return Object.keys(PHASE_LABELS).flatMap((name) => {
    const ms = times[name];
    return ms === undefined ? [] : [{ name, label: PHASE_LABELS[name] ?? name, ms }];
  });
}

function dnsPhases({
  total,
  ...phases
}: NonNullable<Result['dnsCheckResult']>['timingPhases']): Readonly<Record<string, number>> {
  return phases.query === undefined ? { query: total } : { ...phases };
}

/** The certificate and the connection of the (last) request; null without TLS. */
export function tlsOf(result: Result): Tls | null {
  const { apiCheckResult: http, tcpCheckResult: tcp, dnsCheckResult: dns } = result;
  return http?.response?.tls ?? http?.tls ?? tcp?.tls ?? dns?.tls ?? null;
}

/** Paths of the dashboard. */
export const checkPath = (checkId: string): string => `/checks/${encodeURIComponent(checkId)}`;
export const resultPath = (checkId: string, resultId: string): string =>
  `${checkPath(checkId)}/results/${encodeURIComponent(resultId)}`;
