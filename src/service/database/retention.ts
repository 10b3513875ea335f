import { DAY_MS } from '../../model/time-units.ts';
import type { Clock } from '../../runtime/clock.ts';

/**
 * Removes rows in batches, so that no statement takes long, until there are no more or the signal
 * aborts.
 *
 * @param remove returns how many it removed, at most `limit`
 */
export async function removeInBatches(
  rowsAtOnce: number,
  remove: (limit: number) => Promise<number>,
  signal: AbortSignal,
): Promise<void> {
  let removed = rowsAtOnce;
  while (removed === rowsAtOnce && !signal.aborted) removed = await remove(rowsAtOnce);
}

/**
 * Removes rows past the retention in batches, by whole days like results.
 *
 * @param remove returns how many it removed
 */
export async function removePastRetention(
  { clock, retentionDays }: { readonly clock: Clock; readonly retentionDays: number },
  rowsAtOnce: number,
  remove: (old: { readonly beforeMs: number; readonly limit: number }) => Promise<number>,
  signal: AbortSignal,
): Promise<void> {
  const beforeMs = clock.wallMs() - (retentionDays + 1) * DAY_MS;
  await removeInBatches(rowsAtOnce, (limit) => remove({ beforeMs, limit }), signal);
}
