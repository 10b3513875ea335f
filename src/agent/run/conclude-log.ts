import type { Check } from '../../model/check/check.ts';
import { adviceOf } from '../../model/result/advice.ts';
import { reasonsOf } from '../../model/result/reasons.ts';
import type { CheckResult } from '../../model/result/result.ts';
import { detailOf } from '../../model/result/result-summary.ts';
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
  const advised = adviceOf(result);
  if (advised === null) return;
  const { phase, advice } = advised;
  const where = endpoint === null ? '' : towards(endpoint, phase);
  log.conclude('info', `${word} in the phase "${phase}"${where}`);
  log.conclude('info', `What to try: ${advice}`);
}

function towards({ hostname, address, port, transport }: Endpoint, phase: string): string {
  if (phase === 'dns' && address === null) return `, asking the name servers for ${hostname}`;
  const name = port === null ? hostname : endpointText(hostname, port);
  const of = address === null || address === hostname ? '' : ` at ${address}`;
  return `, towards ${name}${of} (${transport.toUpperCase()})`;
}
