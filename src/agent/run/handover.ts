import type { Check } from '../../model/check/check.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';

/** A retry that is due in another location. */
export interface RetryOffer {
  readonly checkId: string;
  /** Epoch milliseconds; names the run. */
  readonly slotMs: number;
  readonly sequenceId: string;
  /** Of the attempt to come: with the one that just failed. */
  readonly retriesMade: number;
  /** Epoch milliseconds at which the run's first attempt started, wherever that was. */
  readonly firstStartedAtMs: number;
  /** Epoch milliseconds: the end of the attempt that failed and the retry's delay. */
  readonly notBeforeMs: number;
}

/** Gives retries to other locations. */
export interface Handover {
  /**
   * True: another location makes the retry, and all that comes after it. False, also where nobody
   * could be asked in time: it is still the agent's own. Has a time limit of its own.
   */
  offer(retry: RetryOffer, signal: AbortSignal): Promise<boolean>;
}

/**
 * Whether the check may run in more than one location. A group may bring locations of its own,
 * which the agent does not know of: the service decides.
 */
export function mayRunElsewhere({
  locations,
  privateLocations,
  groupId,
}: Pick<Check, 'locations' | 'privateLocations' | 'groupId'>): boolean {
  if (groupId !== null) return true;
  return new Set([...(locations ?? []), ...(privateLocations ?? [])]).size > 1;
}

/** Whether the retry was taken. A handover that breaks is a fault of ours, and costs no retry. */
export async function isTaken(
  handover: Handover,
  retry: RetryOffer,
  { signal, log }: { readonly signal: AbortSignal; readonly log: Logger },
): Promise<boolean> {
  try {
    return await handover.offer(retry, signal);
  } catch (fault) {
    const why = messageOf(fault);
    log.error({ err: fault, checkId: retry.checkId }, `a retry could not be handed over: ${why}`);
    return false;
  }
}
