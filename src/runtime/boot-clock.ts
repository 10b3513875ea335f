import type { Clock } from './clock.ts';

/**
 * Whole milliseconds on a monotonic clock that includes the sleep of the machine. Ages and leases use
 * it: setting the wall clock a week forward makes nothing too old.
 */
export function bootTimeMs(clock: Clock): number {
  const monotonicMs = clock.monotonicMs();
  return Math.floor(monotonicMs + suspendedMs(clock, monotonicMs));
}

/** An instant on two clocks: at least one of them runs on while this process is suspended. */
export interface Moment {
  readonly bootMs: number;
  readonly wallMs: number;
}

export function momentOf(clock: Clock): Moment {
  return { bootMs: bootTimeMs(clock), wallMs: clock.wallMs() };
}

/**
 * The milliseconds between two moments, or more where the wall clock was set. After a pause of a
 * virtual machine, which stops all its clocks, only the corrected wall clock shows it.
 */
export function elapsedMs(from: Moment, to: Moment): number {
  return Math.max(to.bootMs - from.bootMs, to.wallMs - from.wallMs);
}

interface Slept {
  readonly ms: number;
  /** When `suspendedMs` was read. */
  readonly monotonicMs: number;
  readonly wallMs: number;
}

const slept = new WeakMap<Clock, Slept>();
const MAX_AGE_MS = 1_000;
const SAME_MS = 20;

/** It takes a system call, so it is read once a second, and when the wall clock has jumped. */
function suspendedMs(clock: Clock, monotonicMs: number): number {
  const known = slept.get(clock);
  const wallMs = clock.wallMs();
  if (known !== undefined) {
    const passedMs = monotonicMs - known.monotonicMs;
    const isStill = Math.abs(wallMs - known.wallMs - passedMs) <= SAME_MS;
    if (isStill && passedMs <= MAX_AGE_MS) return known.ms;
  }
  const ms = clock.suspendedMs();
  slept.set(clock, { ms, monotonicMs, wallMs });
  return ms;
}
