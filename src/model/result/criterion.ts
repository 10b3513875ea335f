import { decidesStatus } from '../check/assertions/assertion.ts';
import type { Check } from '../check/check.ts';
import { isPassingLoss } from '../check/thresholds.ts';
import type { DnsDetail } from './details/dns-detail.ts';
import type { HttpDetail } from './details/http-detail.ts';
import type { IcmpDetail } from './details/icmp-detail.ts';
import type { TcpDetail } from './details/tcp-detail.ts';
import type { CheckResult } from './result.ts';

const TURNED = '(shouldFail)';

/** Lower ones are interim (RFC 9110 15.2). */
export const MIN_FINAL_STATUS = 200;

/** The criterion of URL and API checks without an assertion that decides (`decidesStatus`). */
export function isPassingStatus(status: number): boolean {
  return status < 400;
}

/** The criterion of DNS checks without an assertion on RESPONSE_CODE. */
export function isPassingResponseCode(responseCode: string): boolean {
  return responseCode === 'NOERROR';
}

/**
 * The response and what the check requires (src/model/README.md, "What passes and what fails") if
 * the criterion is not met; null if it is met, or if there was no response.
 *
 * @param check null if it is no longer known: then shouldFail is derived from the result
 */
export function unmetCriterion(result: CheckResult, check: Check | null): string | null {
  const { apiCheckResult, tcpCheckResult, dnsCheckResult, icmpCheckResult } = result;
  const shouldFail = check?.shouldFail ?? null;
  if (apiCheckResult !== null) return unmetStatus(apiCheckResult, shouldFail);
  if (tcpCheckResult !== null) return unmetConnection(tcpCheckResult, shouldFail);
  if (dnsCheckResult !== null) return unmetAnswer(dnsCheckResult, shouldFail);
  return icmpCheckResult === null ? null : unmetLoss(icmpCheckResult, check);
}

function unmetStatus(
  { response, assertions }: HttpDetail,
  shouldFail: boolean | null,
): string | null {
  // Such an assertion replaces the criterion.
  if (response === null || assertions.some(decidesStatus)) return null;
  const { status } = response;
  const isTurned = shouldFail === true;
  return isPassingStatus(status) === isTurned ? unmetStatusText(status) : null;
}

/** Why a status is not the expected one. If it is no error status, the check has `shouldFail`. */
export function unmetStatusText(status: number): string {
  return isPassingStatus(status)
    ? `status ${status}; 400 or more, or no answer, is needed ${TURNED}`
    : `status ${status}; under 400 is needed`;
}

function unmetConnection({ response }: TcpDetail, shouldFail: boolean | null): string | null {
  if (response === null || shouldFail !== true) return null;
  return `connected; no connection is needed ${TURNED}`;
}

function unmetAnswer(
  { request, response, assertions }: DnsDetail,
  shouldFail: boolean | null,
): string | null {
  // Such an assertion replaces the criterion.
  if (response === null || assertions.some(({ source }) => source === 'RESPONSE_CODE')) return null;
  const { responseCode, nameServer } = response;
  const host = nameServer.host.includes(':') ? `[${nameServer.host}]` : nameServer.host;
  const server = `${host}:${nameServer.port}`;
  const came = `${responseCode} for ${request.query} ${request.recordType} from ${server}`;
  if (!isPassingResponseCode(responseCode))
    return shouldFail === true ? null : `${came}; NOERROR is needed`;
  if (shouldFail !== true) return null;
  return `${came}; another code, or no answer, is needed ${TURNED}`;
}

function unmetLoss({ response }: IcmpDetail, check: Check | null): string | null {
  if (response === null || check?.checkType !== 'ICMP') return null;
  const { packetLoss, packetsSent, packetsReceived } = response;
  const { maxPacketLossThreshold: max, shouldFail } = check;
  if (isPassingLoss(packetLoss, max) !== shouldFail) return null;
  const needed = shouldFail ? `${max} % or more is needed ${TURNED}` : `under ${max} % is needed`;
  return `${packetsReceived} of ${packetsSent} echoes, ${packetLoss} % lost; ${needed}`;
}
