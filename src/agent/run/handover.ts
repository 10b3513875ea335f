import type { Check } from '../../model/check/check.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';

/** A retry that is due in another location. */
export interface RetryOffer {
  readonly checkId: string;
  /** Epoch milliseconds; names the run. */
  readonly slotMs: number;
  readonly sequenceId: string;
  /** The number of this retry, from 1. */
  readonly retriesMade: number;
  /** Epoch milliseconds at which the run's first attempt started, in any location. */
  readonly firstStartedAtMs: number;
  /** Epoch milliseconds: the end of the failed attempt plus the retry's delay. */
  readonly notBeforeMs: number;
}

/** Offers retries to other locations. */
export interface Handover {
  /**
   * True: another location makes the retry and all later ones. False, also if the service did not
   * answer in time: the agent makes it. Has its own time limit.
   */
  offer(retry: RetryOffer, signal: AbortSignal): Promise<boolean>;
}

/**
 * Whether the check may run in more than one location. A group may have locations that the agent
 * does not know: the service decides.
 */
export function mayRunElsewhere({
  locations,
  privateLocations,
  groupId,
}: Pick<Check, 'locations' | 'privateLocations' | 'groupId'>): boolean {
  if (groupId !== null) return true;
  return new Set([...(locations ?? []), ...(privateLocations ?? [])]).size > 1;
}

/** Whether the retry was taken. False after a fault of the agent: no retry is lost. */
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
