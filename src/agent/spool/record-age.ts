import { bootTimeMs } from '../../runtime/boot-clock.ts';
import type { Clock } from '../../runtime/clock.ts';

/**
 * Maps the wall time of an earlier process's record to boot time; only the wall clock tells its
 * age.
 */
export function bootTimeOfRecord(clock: Clock): (atMs: number) => number {
  const nowMs = bootTimeMs(clock);
  const wallMs = clock.wallMs();
  return (atMs) => Math.floor(nowMs - Math.max(0, wallMs - atMs));
}
