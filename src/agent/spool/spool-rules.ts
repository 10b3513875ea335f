import type { Clock } from '../../runtime/clock.ts';
import { upTimeMs } from '../../runtime/up-time.ts';

const MAX_ID_BYTES = 1024;

/** Maps the wall time of an earlier process's record to up time; only the wall clock tells its age. */
export function bornBefore(clock: Clock): (atMs: number) => number {
  const nowMs = upTimeMs(clock);
  const wallMs = clock.wallMs();
  return (atMs) => Math.floor(nowMs - Math.max(0, wallMs - atMs));
}

export function fits(id: string, bytes: number, maxBytes: number): boolean {
  return bytes <= maxBytes && Buffer.byteLength(id) <= MAX_ID_BYTES;
}
