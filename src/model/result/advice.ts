import { ERROR_CODES, type ErrorCode } from './error-codes.ts';
import type { CheckResult } from './result.ts';
import { detailOf, shownPhases } from './result-summary.ts';
import { runResultOf } from './run-result.ts';

/** Where a run failed or was too slow, and what to try first. */
export interface Advice {
  /** The phase that failed or took too long, such as `dns` or `response`. */
  readonly phase: string;
  readonly advice: string;
}

/** null for a run that passed or was cancelled: there is nothing to try. */
export function adviceOf(result: CheckResult): Advice | null {
  const ended = runResultOf(result);
  if (ended === 'passed' || ended === 'cancelled') return null;
  const code = detailOf(result)?.requestErrorCode ?? null;
  if (code === null)
    return { phase: phaseWithoutError(result), advice: adviceWithoutError(result) };
  return isKnown(code) ? ERROR_CODES[code] : OF_NEWER_AGENT;
}

const OF_NEWER_AGENT: Advice = {
  phase: 'request',
  advice:
    'Read the job log: the error is of a newer version of the agent, which this service does not know.',
};

function isKnown(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code);
}

function phaseWithoutError(result: CheckResult): string {
  if (result.icmpCheckResult !== null) return 'icmp';
  return (isTooSlow(result) ? slowestPhaseOf(result)?.name : null) ?? 'response';
}

function adviceWithoutError(result: CheckResult): string {
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
