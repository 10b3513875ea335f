import type { Check } from '../../model/check/check.ts';
import { ERROR_CODES } from '../../model/result/error-codes.ts';
import { reasonsOf } from '../../model/result/reasons.ts';
import type { CheckResult } from '../../model/result/result.ts';
import { detailOf, shownPhases } from '../../model/result/result-summary.ts';
import { runResultOf } from '../../model/result/run-result.ts';
import { endpointText } from '../../runtime/net/endpoint-text.ts';
import type { Endpoint } from '../probes/endpoint.ts';
import type { JobLog } from '../probes/job-log.ts';

/**
 * Ends the job log of an attempt that did not pass: what failed, in which phase, towards which
 * address, and what to try first.
 *
 * @param log of the attempt that has the result
 * @param endpoint the target of the connection; null if the attempt ended before it was known
 */
export function concludeLog(
  result: CheckResult,
  check: Check,
  endpoint: Endpoint | null,
  log: JobLog,
): void {
  const ended = runResultOf(result);
  if (ended === 'passed' || ended === 'cancelled') return;
  const code = detailOf(result)?.requestErrorCode ?? null;
  // The attempt has already logged its error.
  const alreadyLogged = code === null ? 0 : 1;
  const isDegraded = ended === 'degraded';
  const word = isDegraded ? 'Degraded' : 'Failed';
  for (const reason of reasonsOf(result, ended, check).slice(alreadyLogged)) {
    log.conclude(isDegraded ? 'warn' : 'error', `${word}: ${reason}`);
  }
  const phase = phaseOf(result);
  const where = endpoint === null ? '' : towards(endpoint, phase);
  log.conclude('info', `${word} in the phase "${phase}"${where}`);
  const advice = code === null ? adviceFor(result) : ERROR_CODES[code].advice;
  log.conclude('info', `What to try: ${advice}`);
}

/** The phase in which the failure was seen. */
function phaseOf(result: CheckResult): string {
  const code = detailOf(result)?.requestErrorCode ?? null;
  if (code !== null) return ERROR_CODES[code].phase;
  if (result.icmpCheckResult !== null) return 'icmp';
  return (isTooSlow(result) ? slowestPhaseOf(result)?.name : null) ?? 'response';
}

function towards({ hostname, address, port, transport }: Endpoint, phase: string): string {
  if (phase === 'dns' && address === null) return `, asking the name servers for ${hostname}`;
  const name = port === null ? hostname : endpointText(hostname, port);
  const of = address === null || address === hostname ? '' : ` at ${address}`;
  return `, towards ${name}${of} (${transport.toUpperCase()})`;
}

function adviceFor(result: CheckResult): string {
  if (isTooSlow(result)) {
    const slowest = slowestPhaseOf(result);
    if (slowest === null) {
      return UNCERTAIN_PHASES;
    }
    const { name: phase, ms } = slowest;
    const tcp = result.apiCheckResult?.tcp ?? result.tcpCheckResult?.tcp ?? null;
    if (CONNECT_PHASES.has(phase) && tcp !== null && tcp.retransmits > 0) {
      return `Check for packet loss on the way to the ${tcp.peer}, and whether it accepts connections fast enough: the phase "${phase}" took the most time (${ms} ms), and segments were retransmitted (${tcp.retransmits}).`;
    }
    return `Check the phase "${phase}", which took the most time (${ms} ms), and the load of the target at that time.`;
  }
  if (result.icmpCheckResult !== null) {
    return 'Check for packet loss and delay on the way to the target: mtr TARGET from the host of the agent.';
  }
  return 'Compare the response in this result with the conditions of the check, and read the log of the target at that time.';
}

const UNCERTAIN_PHASES =
  'Check the load of the target at that time. The agent was short of CPU, so the times of the phases do not show which one was slow.';
const CONNECT_PHASES: ReadonlySet<string> = new Set(['tcp', 'connection']);

function isTooSlow(result: CheckResult): boolean {
  // ICMP checks have thresholds for packet loss, not for time.
  if (result.icmpCheckResult !== null) return false;
  const asserted = detailOf(result)?.assertions ?? [];
  return (
    (result.overMaxResponseTime || result.isDegraded) &&
    asserted.every(({ error }) => error === null)
  );
}

/** The longest phase; null if all of it may be due to the agent's own lack of CPU. */
function slowestPhaseOf(
  result: CheckResult,
): { readonly name: string; readonly ms: number } | null {
  const [first] = [...shownPhases(result)].sort(([, one], [, other]) => other - one);
  // A DNS check is one phase.
  const onlyPhase = result.dnsCheckResult === null ? 'response' : 'dns';
  const [name, ms] = first ?? [onlyPhase, result.responseTime];
  const uncertaintyMs = detailOf(result)?.timing?.uncertaintyMs ?? 0;
  return uncertaintyMs > 0 && uncertaintyMs >= ms ? null : { name, ms };
}
