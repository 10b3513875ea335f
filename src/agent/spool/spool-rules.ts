import type { Clock } from '../../runtime/clock.ts';

const MAX_ID_BYTES = 1024;

/**
 * Whole milliseconds on a clock that only goes forward, with the time that the machine slept. Ages are
 * told by it, so that a wall clock that is set forward by a week makes no result too old.
 */
export function upTimeMs(clock: Clock): number {
  return Math.floor(clock.monotonicMs() + clock.suspendedMs());
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
