import type { AnalysisInput } from '../analysis-input.ts';
import type { CauseRow } from './cause.ts';
import { causeOfAssertions, failedAssertions } from './causes/assertion-causes.ts';
import { CODE_CAUSES, causeOfCode } from './causes/code-causes.ts';
import { causeOfResponseCode } from './causes/dns-causes.ts';
import { LOSS_CAUSE, SUCCESS_CAUSE, UNKNOWN_CAUSE } from './causes/other-causes.ts';
import { SLOW_CAUSE } from './causes/slow-causes.ts';
import { causeOfStatus } from './causes/status-causes.ts';
import { detailOf } from './subject.ts';

/** These fail a check that should fail, too: nothing was learnt of the target. */
const OF_OURS: ReadonlySet<string> = new Set(
  Object.entries(CODE_CAUSES).flatMap(([code, { classification }]) =>
    classification === 'CHECK_CONFIGURATION' || classification === 'AGENT_PROBLEM' ? [code] : [],
  ),
);

/**
 * The cause that the rest follows from: what ended the attempt, else the target's own word for it
 * (a status, a code, loss), else an assertion, and last the time it took.
 */
export function findCause(file: AnalysisInput): CauseRow {
  const { result, check } = file;
  const wantsFailure = check?.shouldFail === true;
  const code = detailOf(result)?.requestErrorCode ?? null;
  if (code !== null && (!wantsFailure || OF_OURS.has(code))) return causeOfCode(code);
  const byTarget = wantsFailure ? null : causeByTarget(file);
  if (byTarget !== null) return byTarget;
  const [first, ...others] = failedAssertions(result);
  if (wantsFailure && isAnswered(file)) return SUCCESS_CAUSE;
  if (first !== undefined) return causeOfAssertions([first, ...others]);
  if (result.overMaxResponseTime) return SLOW_CAUSE;
  if (result.isDegraded && !result.hasFailures) {
    return result.icmpCheckResult === null ? SLOW_CAUSE : LOSS_CAUSE;
  }
  // The check may be another now, or be gone: what else is there wanted it to fail.
  return isAnswered(file) ? SUCCESS_CAUSE : UNKNOWN_CAUSE;
}

/** What the target itself says is wrong. */
function causeByTarget({ result, check }: AnalysisInput): CauseRow | null {
  const { apiCheckResult: http, dnsCheckResult: dns, icmpCheckResult: icmp } = result;
  const status = http?.response?.status ?? 0;
  if (status >= 400) return causeOfStatus(status);
  if (dns?.response) {
    const { responseCode } = dns.response;
    // Such an assertion stands in the place of the criterion.
    const isDecided = dns.assertions.some(({ source }) => source === 'RESPONSE_CODE');
    return responseCode === 'NOERROR' || isDecided ? null : causeOfResponseCode(responseCode);
  }
  if (!icmp?.response || !result.hasFailures) return null;
  const { packetLoss } = icmp.response;
  const limit = check?.checkType === 'ICMP' ? check.maxPacketLossThreshold : 0;
  return packetLoss > 0 && packetLoss >= limit ? LOSS_CAUSE : null;
}

/** What a check that should fail does not want. */
function isAnswered({ result, check }: AnalysisInput): boolean {
  const {
    apiCheckResult: http,
    tcpCheckResult: tcp,
    dnsCheckResult: dns,
    icmpCheckResult,
  } = result;
  if (http?.response) return http.response.status < 400;
  if (dns?.response) return dns.response.responseCode === 'NOERROR';
  const limit = check?.checkType === 'ICMP' ? check.maxPacketLossThreshold : 100;
  const loss = icmpCheckResult?.response?.packetLoss;
  return tcp?.response != null || (loss !== undefined && loss < limit);
}
