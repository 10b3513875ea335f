import { DAY_MS } from '../../model/time-units.ts';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { runEvery } from '../../runtime/run-every.ts';

/** Less than an hour, including the jitter. */
const EVERY_MS = 2_700_000;
const MAX_MS = 3_600_000;

/** Does the work now and about every hour until the signal aborts. Logs failures with `failure` as prefix. */
export async function everyHour(
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  failure: string,
  work: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const options = { everyMs: EVERY_MS, maxMs: MAX_MS, failure, kindOf: messageOf, log };
  await runEvery(clock, options, work, signal);
}

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
