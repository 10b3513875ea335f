import type { HttpDetail } from './details/http-detail.ts';
import type { CheckResult } from './result.ts';

export type DetailField =
  | 'apiCheckResult'
  | 'tcpCheckResult'
  | 'dnsCheckResult'
  | 'icmpCheckResult';

/** The details of the check's type. */
export function detailOf<Result extends Readonly<Record<DetailField, unknown>>>(
  result: Result,
): Result[DetailField] {
  return (
    result.apiCheckResult ??
    result.tcpCheckResult ??
    result.dnsCheckResult ??
    result.icmpCheckResult
  );
}

/** The response of the target in a few words; null if there was none. */
export function responseSummaryOf(result: CheckResult): string | null {
  const { apiCheckResult, tcpCheckResult, dnsCheckResult, icmpCheckResult } = result;
  const http = apiCheckResult?.response;
  if (http) return `status ${http.status}`;
  const tcp = tcpCheckResult?.response;
  if (tcp) return tcp.data === '' ? 'connected' : `${tcp.data.length} characters`;
  const dns = dnsCheckResult?.response;
  if (dns) return dns.responseCode;
  const icmp = icmpCheckResult?.response;
  return icmp ? `${icmp.packetsReceived} of ${icmp.packetsSent} echoes` : null;
}

/** Shorter times would be shown as 0.00. */
const SHORTEST_SHOWN_MS = 0.005;
const PHASE_NAMES: Readonly<Record<string, string>> = { firstByte: 'first byte' };

/** The phases with a duration of SHORTEST_SHOWN_MS or more, with their milliseconds, in order. */
export function shownPhases(result: CheckResult): readonly (readonly [string, number])[] {
  const detail = detailOf(result);
  const phases = result.apiCheckResult
    ? httpPhases(result.apiCheckResult)
    : detail !== null && 'timingPhases' in detail
      ? detail.timingPhases
      : undefined;
  return Object.entries(phases ?? {}).flatMap(([name, durationMs]) =>
    name === 'total' || durationMs < SHORTEST_SHOWN_MS
      ? []
      : [[PHASE_NAMES[name] ?? name, durationMs] as const],
  );
}

function httpPhases(detail: HttpDetail) {
  return detail.response?.timingPhases ?? detail.timingPhases;
}
