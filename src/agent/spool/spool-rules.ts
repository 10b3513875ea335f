import type { Clock } from '../../runtime/clock.ts';

const MAX_ID_BYTES = 1024;

/**
 * Whole milliseconds on a clock that only goes forward, with the time that the machine slept. Ages are
 * told by it, so that a wall clock that is set forward by a week makes no result too old.
 */
export function upTimeMs(clock: Clock): number {
  const monotonicMs = clock.monotonicMs();
  return Math.floor(monotonicMs + suspendedMs(clock, monotonicMs));
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

/** Since when records of an earlier process wait: the age of such a one tells only the wall clock. */
export function bornBefore(clock: Clock): (atMs: number) => number {
  const nowMs = upTimeMs(clock);
  const wallMs = clock.wallMs();
  return (atMs) => Math.floor(nowMs - Math.max(0, wallMs - atMs));
}

export function fits(id: string, bytes: number, maxBytes: number): boolean {
  return bytes <= maxBytes && Buffer.byteLength(id) <= MAX_ID_BYTES;
}
