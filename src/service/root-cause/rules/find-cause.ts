import { decidesStatus } from '../../../model/check/assertions/assertion.ts';
import { isPassingLoss } from '../../../model/check/thresholds.ts';
import { isPassingResponseCode, isPassingStatus } from '../../../model/result/criterion.ts';
import type { ErrorCode } from '../../../model/result/error-codes.ts';
import { detailOf } from '../../../model/result/result-summary.ts';
import type { AnalysisInput } from '../analysis-input.ts';
import type { CauseRow } from './cause.ts';
import { AGENT_CAUSES, ICMP_CAUSES, REQUEST_CAUSES } from './causes/agent-causes.ts';
import { causeOfAssertions, failedAssertions } from './causes/assertion-causes.ts';
import { CONNECT_CAUSES, PROXY_CAUSES } from './causes/connect-causes.ts';
import { causeOfResponseCode, DNS_CAUSES } from './causes/dns-causes.ts';
import { LOSS_CAUSE, SUCCESS_CAUSE, UNKNOWN_CAUSE } from './causes/other-causes.ts';
import { RESPONSE_CAUSES } from './causes/response-causes.ts';
import { SLOW_CAUSE } from './causes/slow-causes.ts';
import { causeOfStatus } from './causes/status-causes.ts';
import { TLS_CAUSES } from './causes/tls-causes.ts';

/** What each error code means. */
const CODE_CAUSES: Readonly<Record<ErrorCode, CauseRow>> = {
  ...REQUEST_CAUSES,
  ...DNS_CAUSES,
  ...PROXY_CAUSES,
  ...CONNECT_CAUSES,
  ...TLS_CAUSES,
  ...RESPONSE_CAUSES,
  ...ICMP_CAUSES,
  ...AGENT_CAUSES,
};

const BY_CODE: ReadonlyMap<string, CauseRow> = new Map(Object.entries(CODE_CAUSES));

const NEWER: CauseRow = {
  classification: 'UNKNOWN',
  cause: ({ target, code, message }) =>
    `The run against ${target} ended with ${code ?? 'an error'}, a code that this release of the service does not know. The agent says: ${message ?? 'nothing more'}`,
  fix: () => 'Update the service to the release of the agent, and ask for the analysis again.',
  links: [],
};

/** Codes that say nothing about the target; with these, a check with shouldFail fails, too. */
const NOT_OF_TARGET: ReadonlySet<string> = new Set(
  Object.entries(CODE_CAUSES).flatMap(([code, { classification }]) =>
    classification === 'CHECK_CONFIGURATION' || classification === 'AGENT_PROBLEM' ? [code] : [],
  ),
);

/**
 * Finds the cause of a failure: the error code of the attempt; else the answer of the target (a status, a response
 * code, loss); else a failed assertion; else the duration.
 */
export function findCause(input: AnalysisInput): CauseRow {
  const { result, check } = input;
  const wantsFailure = check?.shouldFail === true;
  const code = detailOf(result)?.requestErrorCode ?? null;
  if (code !== null && (!wantsFailure || NOT_OF_TARGET.has(code))) return causeOfCode(code);
  const byTarget = wantsFailure ? null : causeByTarget(input);
  if (byTarget !== null) return byTarget;
  const [first, ...others] = failedAssertions(result);
  if (wantsFailure && isAnswered(input)) return SUCCESS_CAUSE;
  if (first !== undefined) return causeOfAssertions([first, ...others]);
  if (result.overMaxResponseTime) return SLOW_CAUSE;
  if (result.isDegraded && !result.hasFailures) {
    return result.icmpCheckResult === null ? SLOW_CAUSE : LOSS_CAUSE;
  }
  // The check may have changed since, or be deleted: it should have failed.
  return isAnswered(input) ? SUCCESS_CAUSE : UNKNOWN_CAUSE;
}

/** A failure that the target itself reported. */
function causeByTarget({ result, check }: AnalysisInput): CauseRow | null {
  const { apiCheckResult: http, dnsCheckResult: dns, icmpCheckResult: icmp } = result;
  const status = http?.response?.status ?? null;
  // Such an assertion replaces the criterion.
  const deciding = (http?.assertions ?? []).filter(decidesStatus);
  const isAccepted = deciding.length > 0 && deciding.every(({ error }) => error === null);
  if (status !== null && !isPassingStatus(status) && !isAccepted) return causeOfStatus(status);
  if (dns?.response) {
    const { responseCode } = dns.response;
    // Such an assertion replaces the criterion.
    const isDecided = dns.assertions.some(({ source }) => source === 'RESPONSE_CODE');
    return isPassingResponseCode(responseCode) || isDecided
      ? null
      : causeOfResponseCode(responseCode);
  }
  if (!icmp?.response || !result.hasFailures) return null;
  const { packetLoss } = icmp.response;
  const limit = check?.checkType === 'ICMP' ? check.maxPacketLossThreshold : 0;
  return packetLoss > 0 && !isPassingLoss(packetLoss, limit) ? LOSS_CAUSE : null;
}

/** Whether the target answered without a failure. */
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

/** The cause of an error code, including codes of newer agents. */
function causeOfCode(code: string): CauseRow {
  return BY_CODE.get(code) ?? NEWER;
}
