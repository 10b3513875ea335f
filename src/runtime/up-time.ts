import type { Clock } from './clock.ts';

/**
 * Whole milliseconds on a clock that only goes forward, with the time that the machine slept. Ages and
 * leases are told by it, so that a wall clock that is set forward by a week makes nothing too old.
 */
export function upTimeMs(clock: Clock): number {
  const monotonicMs = clock.monotonicMs();
  return Math.floor(monotonicMs + suspendedMs(clock, monotonicMs));
}

/** An instant by the two clocks of which at least one goes on while this process stands still. */
export interface Moment {
  readonly upMs: number;
  readonly wallMs: number;
}

export function momentOf(clock: Clock): Moment {
  return { upMs: upTimeMs(clock), wallMs: clock.wallMs() };
}

/**
 * How long it was between two moments, in milliseconds; at the most, where somebody set the wall clock. A
 * virtual machine that is paused loses all its clocks, and is told by its wall clock being set forward.
 */
export function passedMs(from: Moment, to: Moment): number {
  return Math.max(to.upMs - from.upMs, to.wallMs - from.wallMs);
}

interface Slept {
  readonly ms: number;
  /** When the machine was asked. */
  readonly monotonicMs: number;
  readonly wallMs: number;
}

const slept = new WeakMap<Clock, Slept>();
const ASKED_AGAIN_MS = 1_000;
const SAME_MS = 20;

/** To ask takes a system call, so it is asked once a second, and where the wall clock went ahead. */
function suspendedMs(clock: Clock, monotonicMs: number): number {
  const known = slept.get(clock);
  const wallMs = clock.wallMs();
  if (known !== undefined) {
    const passedMs = monotonicMs - known.monotonicMs;
    const isStill = Math.abs(wallMs - known.wallMs - passedMs) <= SAME_MS;
    if (isStill && passedMs <= ASKED_AGAIN_MS) return known.ms;
  }
  const ms = clock.suspendedMs();
  slept.set(clock, { ms, monotonicMs, wallMs });
  return ms;
}
