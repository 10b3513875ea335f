import type { Clock } from '../../runtime/clock.ts';
import { upTimeMs } from '../../runtime/up-time.ts';

const MAX_ID_BYTES = 1024;

/** Since when records of an earlier process wait: the age of such a one tells only the wall clock. */
export function bornBefore(clock: Clock): (atMs: number) => number {
  const nowMs = upTimeMs(clock);
  const wallMs = clock.wallMs();
  return (atMs) => Math.floor(nowMs - Math.max(0, wallMs - atMs));
}

export function fits(id: string, bytes: number, maxBytes: number): boolean {
  return bytes <= maxBytes && Buffer.byteLength(id) <= MAX_ID_BYTES;
}
