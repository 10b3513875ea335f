import { constants } from 'node:os';
import { getSystemErrorName } from 'node:util';
import { messageOf } from '../errors.ts';

/** The same numbers on Linux and macOS. */
const LOCK_EXCLUSIVE = 2;
const LOCK_NOT_WAITING = 4;

export type FlockResult =
  | { readonly state: 'locked' }
  | { readonly state: 'held' }
  /** `failed`: the kernel refused for a reason other than a holder. `unavailable`: the platform has no flock. */
  | { readonly state: 'failed' | 'unavailable'; readonly reason: string };

/**
 * Locks an open file or folder exclusively, without waiting. The kernel releases the lock when the
 * descriptor is closed or the process ends, however it ends: no stale lock is left. The lock also
 * works between containers that share a folder of one machine, where process ids mean nothing.
 */
export async function tryFlock(fd: number): Promise<FlockResult> {
  try {
    // Loaded on first use: an agent without DATA_DIR does not need it.
    const { default: koffi } = await import('koffi');
    const call = koffi.load(null).func('int flock(int, int)') as (...args: number[]) => number;
    if (call(fd, LOCK_EXCLUSIVE | LOCK_NOT_WAITING) === 0) return { state: 'locked' };
    const errno = koffi.errno();
    if (errno === constants.errno.EWOULDBLOCK) return { state: 'held' };
    return { state: 'failed', reason: errno > 0 ? getSystemErrorName(-errno) : 'unknown' };
  } catch (error) {
    return { state: 'unavailable', reason: messageOf(error) };
  }
}
