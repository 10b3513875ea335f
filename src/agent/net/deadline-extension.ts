import type { Clock } from '../../runtime/clock.ts';
import { TICK_MS } from './kernel/kernel-sockets.ts';
import type { PeerActivity } from './kernel/peer-activity.ts';
import type { StarvationWatch } from './starvation-watch.ts';

export interface ExtensionLimits {
  readonly clock: Clock;
  readonly deadlineMs: number;
  readonly starvation?: StarvationWatch | undefined;
}

/** With less starvation than this, an attempt's times count as exact: no threshold is finer. */
export const EXACT_MS = 1;
/** Upper bound of the extension of a wait because of starvation. */
export const MAX_EXTENSION_MS = 30_000;
/** A remainder of a time limit that is too short for another wait. */
const TOLERANCE_MS = 10;
/** The event loop reads data that has arrived within one or two iterations. */
const MAX_CHECKS = 3;

/**
 * Extends a wait at its deadline: by an event-loop iteration for data that the kernel already has,
 * and by the time of our starvation, unless the kernel shows that the peer was silent for the whole
 * limit anyway. Create it when the wait begins.
 */
export class DeadlineExtension {
  readonly #limits: ExtensionLimits;
  readonly #startMs: number;
  #checks = 0;

  constructor(limits: ExtensionLimits) {
    this.#limits = limits;
    this.#startMs = limits.clock.monotonicMs();
  }

  /** Milliseconds to wait on; null if the time is up, which it reports to the attempt. */
  nextMs(activity: PeerActivity): number | null {
    const { clock, deadlineMs, starvation } = this.#limits;
    if (starvation === undefined) return null;
    if (activity.kind === 'arrived' && this.#checks < MAX_CHECKS) {
      this.#checks += 1;
      return 0;
    }
    const { starvedMs } = starvation;
    // Starvation before this wait also shortened it: that time was not the peer's.
    const lostMs = Math.min(starvedMs, MAX_EXTENSION_MS, this.#startMs - starvation.startMs);
    const limitMs = deadlineMs + lostMs - this.#startMs;
    const silentMs = activity.kind === 'silent' ? activity.ms : 0;
    if (activity.kind === 'silent' && silentMs >= limitMs - TICK_MS) return this.#end(true);
    const extensionMs = Math.min(starvedMs, MAX_EXTENSION_MS);
    const missingMs = Math.min(deadlineMs + extensionMs - clock.monotonicMs(), limitMs - silentMs);
    return missingMs > TOLERANCE_MS ? missingMs : this.#end(starvedMs <= MAX_EXTENSION_MS);
  }

  #end(certain: boolean): null {
    this.#limits.starvation?.timedOut(certain);
    return null;
  }
}
