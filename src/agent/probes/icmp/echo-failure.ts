import type { Failure } from '../../../model/result/error-codes.ts';
import type { EchoEnd } from './echo-exchange.ts';

/**
 * null if at least one reply arrived: thresholds decide how many must. A fault of ours comes first,
 * since the loss is then not the target's.
 */
export function echoFailure(target: string, ends: readonly EchoEnd[]): Failure | null {
  const fault = ends.find((end) => end.kind === 'fault');
  if (fault !== undefined) {
    const message = `Not every echo request to ${target} could be sent: ${fault.reason}.`;
    return { code: 'INTERNAL_ERROR', message };
  }
  if (ends.some((end) => end.kind === 'answered')) return null;
  const rejected = ends.find((end) => end.kind === 'unreachable' || end.kind === 'refused');
  if (rejected !== undefined) {
    return {
      code: 'ICMP_UNREACHABLE',
      message: `${target} cannot be reached: ${rejected.reason}.`,
    };
  }
  const message =
    ends.length === 0
      ? `The time for the check was up before an echo request could be sent to ${target}.`
      : `${target} answered none of ${ends.length} echo requests.`;
  return { code: 'ICMP_NO_REPLY', message };
}
