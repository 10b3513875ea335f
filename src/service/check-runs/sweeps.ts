import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { runEvery } from '../../runtime/run-every.ts';
import type { WakeSignal } from '../../runtime/wake-signal.ts';
import { storeErrorKind } from '../database/store-errors.ts';

const SWEEP_EVERY_MS = 1_000;
const MAX_BACK_OFF_MS = 30_000;

export interface Sweeps {
  /** The log line of a failure, before its message. */
  readonly failure: string;
  /** Ends what is overdue. */
  readonly sweep: () => Promise<unknown>;
  readonly deleteEveryMs: number;
  /** Deletes what has ended long ago, until the signal aborts. */
  readonly deleteOld: (signal: AbortSignal) => Promise<void>;
  /** Sweeps at once when it is rung. */
  readonly wake?: WakeSignal;
}

/** Sweeps about every second, and deletes every `deleteEveryMs`, until the signal aborts. */
export async function runSweeps(
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  { failure, sweep, deleteEveryMs, deleteOld, wake }: Sweeps,
  signal: AbortSignal,
): Promise<void> {
  const waking = wake === undefined ? {} : { wake };
  let deletedAtMs = Number.NEGATIVE_INFINITY;
  await runEvery(
    clock,
    {
      everyMs: SWEEP_EVERY_MS,
      maxMs: MAX_BACK_OFF_MS,
      failure,
      kindOf: storeErrorKind,
      log,
      ...waking,
    },
    async () => {
      await sweep();
      if (clock.monotonicMs() - deletedAtMs < deleteEveryMs) return;
      await deleteOld(signal);
      deletedAtMs = clock.monotonicMs();
    },
    signal,
  );
}
