import { decidesStatus } from '../check/assertions/assertion.ts';
import { isPassingResponseCode, isPassingStatus, unmetStatusText } from './criterion.ts';
import { runResultOf } from './run-result.ts';

/** The fields about a failure in the details of every check type. */
interface FailureDetail {
  readonly requestError: string | null;
  readonly assertions: readonly {
    readonly source: string;
    readonly comparison: string;
    readonly error: string | null;
  }[];
}

/** The part of a result that explains its failure. */
export interface FailedResult {
  readonly hasFailures: boolean;
  readonly hasErrors: boolean;
  readonly isDegraded: boolean;
  readonly isCancelled: boolean;
  readonly overMaxResponseTime: boolean;
  readonly apiCheckResult:
    | (FailureDetail & { readonly response: { readonly status: number } | null })
    | null;
  readonly tcpCheckResult: (FailureDetail & { readonly response: object | null }) | null;
  readonly dnsCheckResult:
    | (FailureDetail & { readonly response: { readonly responseCode: string } | null })
    | null;
  readonly icmpCheckResult:
    | (FailureDetail & { readonly response: { readonly packetLoss: number } | null })
    | null;
}

/** False for cancelled runs and faults of the agent: they prove nothing about the target. */
export function isFailure(
  result: Pick<FailedResult, 'hasFailures' | 'hasErrors' | 'isDegraded' | 'isCancelled'>,
): boolean {
  return runResultOf(result) === 'failed';
}

/**
 * Why a result failed, in one sentence: the error of its request, or the first failed assertion, or
 * the criterion or threshold that was not met (src/model/README.md, "Results"). Uses only the
 * result, as the check may have changed.
 *
 * @returns null if the result did not fail, or contains no reason
 */
export function rootMessageOf(result: FailedResult): string | null {
  if (!isFailure(result)) return null;
  const detail =
    result.apiCheckResult ??
    result.tcpCheckResult ??
    result.dnsCheckResult ??
    result.icmpCheckResult;
  const texts = [detail?.requestError, ...(detail?.assertions ?? []).map(({ error }) => error)];
  const first = texts.find((text) => text !== null && text !== undefined && text.trim() !== '');
  return first ?? unmetOf(result);
}

const TOO_SLOW = 'The response time was over maxResponseTime';

/**
 * The criterion or threshold that was not met, for a failure without an error or failed assertion.
 * If the result meets the criterion and failed nevertheless, its check has shouldFail.
 */
function unmetOf(result: FailedResult): string | null {
  const { apiCheckResult, tcpCheckResult, dnsCheckResult, icmpCheckResult } = result;
  const tooSlow = result.overMaxResponseTime ? TOO_SLOW : null;
  const http = apiCheckResult?.response;
  if (http) {
    // Such an assertion replaces the criterion, and no assertion failed.
    if (apiCheckResult?.assertions.some(decidesStatus) === true) return tooSlow;
    // If it took too long, the status may be the expected one.
    const text = unmetStatusText(http.status);
    return isPassingStatus(http.status) ? (tooSlow ?? text) : joined(text, tooSlow);
  }
  if (tcpCheckResult?.response) {
    return tooSlow ?? 'The connection was made, where the check expects none';
  }
  const dns = dnsCheckResult?.response;
  if (dns) {
    // Such an assertion replaces the criterion, and no assertion failed.
    const decided = dnsCheckResult?.assertions.some(({ source }) => source === 'RESPONSE_CODE');
    if (decided === true && tooSlow !== null) return tooSlow;
    const { responseCode } = dns;
    if (!isPassingResponseCode(responseCode))
      return joined(`The name server answered ${responseCode}`, tooSlow);
    return tooSlow ?? 'The name server answered NOERROR, where the check expects an error code';
  }
  const icmp = icmpCheckResult?.response;
  if (icmp) {
    if (icmp.packetLoss > 0) return `${icmp.packetLoss} % of the echo requests were lost`;
    return 'Every echo request was answered, where the check expects loss';
  }
  return tooSlow;
}

function joined(fact: string, other: string | null): string {
  return other === null ? fact : `${fact}. ${other}`;
}
