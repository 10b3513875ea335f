import { DAY_MS } from '../../model/time-units.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { runEvery } from '../../runtime/run-every.ts';
import { WakeSignal } from '../../runtime/wake-signal.ts';
import { everyHour } from '../database/every-hour.ts';
import { removePastRetention } from '../database/retention.ts';
import type { Store } from '../database/store.ts';
import { storeErrorKind } from '../database/store-errors.ts';
import type { AnalysisCompleter } from './analysis-completer.ts';
import { deleteModelDaysBefore } from './claims.sql.ts';
import { deleteAnalysesBefore } from './sql.ts';

export interface WorkerParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly completer: AnalysisCompleter;
  readonly retentionDays: number;
  /** Concurrent analyses by the model; 0 for none. */
  readonly modelWorkers: number;
}

export interface AnalysisWorker {
  /** Call it when an analysis may be pending. */
  readonly wake: () => void;
  /** Completes pending analyses and removes old ones until the signal aborts. Logs failures. */
  maintain(signal: AbortSignal): Promise<void>;
}

const POLL_EVERY_MS = 1000;
const MAX_BACKOFF_MS = 30_000;
/** Bounds the time of a statement. */
const ROWS_PER_STATEMENT = 1_000;

export function createAnalysisWorker(parts: WorkerParts): AnalysisWorker {
  const { store, clock, log, completer, modelWorkers } = parts;
  const rules = new WakeSignal();
  const models = Array.from({ length: modelWorkers }, () => new WakeSignal());
  const wake = (): void => {
    for (const each of [rules, ...models]) each.ring();
  };

  /** Works while something is pending, and polls about once a second. */
  async function work(
    wakeSignal: WakeSignal,
    make: (signal: AbortSignal) => Promise<number>,
    signal: AbortSignal,
  ): Promise<void> {
    const options = {
      everyMs: POLL_EVERY_MS,
      maxMs: MAX_BACKOFF_MS,
      failure: 'root cause analyses could not be made',
      kindOf: storeErrorKind,
      log,
      wake: wakeSignal,
    };
    await runEvery(
      clock,
      options,
      async () => {
        const made = await make(signal);
        // The rules may have added analyses for the model.
        if (made > 0) for (const other of models) if (other !== wakeSignal) other.ring();
        return made > 0;
      },
      signal,
    );
  }

  async function removeOld(signal: AbortSignal): Promise<void> {
    await removePastRetention(
      parts,
      ROWS_PER_STATEMENT,
      (old) => deleteAnalysesBefore(store, old),
      signal,
    );
    await deleteModelDaysBefore(
      store,
      new Date(clock.wallMs() - DAY_MS).toISOString().slice(0, 10),
    );
  }

  async function clean(signal: AbortSignal): Promise<void> {
    await everyHour(
      parts,
      'root cause analyses past their retention stayed',
      () => removeOld(signal),
      signal,
    );
  }

  return {
    wake,
    async maintain(signal) {
      await Promise.all([
        work(rules, completer.byRules, signal),
        ...models.map((each) => work(each, completer.byModel, signal)),
        clean(signal),
      ]);
    },
  };
}
