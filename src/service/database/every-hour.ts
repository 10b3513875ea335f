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
