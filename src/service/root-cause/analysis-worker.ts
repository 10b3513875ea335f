import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { runEvery } from '../../runtime/run-every.ts';
import { WakeSignal } from '../../runtime/wake-signal.ts';
import type { Store } from '../database/port.ts';
import { everyHour, removePastRetention } from '../database/retention.ts';
import { storeFaultKind } from '../database/store-errors.ts';
import type { AnalysisMaker } from './analysis-maker.ts';
import { deleteModelDaysBefore } from './claims.sql.ts';
import { deleteAnalysesBefore } from './sql.ts';

export interface KeeperParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly maker: AnalysisMaker;
  readonly retentionDays: number;
  /** How many analyses of the model are made at once; 0 for none. */
  readonly modelWorkers: number;
}

export interface AnalysisWorker {
  /** Something may be pending. */
  readonly ring: () => void;
  /** Makes what is pending and removes what is old, until the signal aborts. Logs what fails. */
  maintain(signal: AbortSignal): Promise<void>;
}

const LOOK_EVERY_MS = 1000;
const MAX_BACK_OFF_MS = 30_000;
const DAY_MS = 86_400_000;
/** So that no statement takes long. */
const ROWS_AT_ONCE = 1_000;

export function createAnalysisKeeper(parts: KeeperParts): AnalysisWorker {
  const { store, clock, log, maker, modelWorkers } = parts;
  const rules = new WakeSignal();
  const models = Array.from({ length: modelWorkers }, () => new WakeSignal());
  const ring = (): void => {
    for (const bell of [rules, ...models]) bell.ring();
  };

  /** Works while there is work, and looks for more each second or so. */
  async function work(
    bell: WakeSignal,
    make: (signal: AbortSignal) => Promise<number>,
    signal: AbortSignal,
  ): Promise<void> {
    const options = {
      everyMs: LOOK_EVERY_MS,
      maxMs: MAX_BACK_OFF_MS,
      failure: 'root cause analyses could not be made',
      kindOf: storeFaultKind,
      log,
      wake: bell,
    };
    await runEvery(
      clock,
      options,
      async () => {
        const made = await make(signal);
        // The model may have work to do on what the rules made.
        if (made > 0) for (const other of models) if (other !== bell) other.ring();
        return made > 0;
      },
      signal,
    );
  }

  async function removeOld(signal: AbortSignal): Promise<void> {
    await removePastRetention(
      parts,
      ROWS_AT_ONCE,
      (old) => deleteAnalysesBefore(store, old),
      signal,
    );
    await deleteModelDaysBefore(
      store,
      new Date(clock.wallMs() - DAY_MS).toISOString().slice(0, 10),
    );
  }

  async function keepClean(signal: AbortSignal): Promise<void> {
    await everyHour(
      parts,
      'root cause analyses past their retention stayed',
      () => removeOld(signal),
      signal,
    );
  }

  return {
    ring,
    async maintain(signal) {
      await Promise.all([
        work(rules, maker.byRules, signal),
        ...models.map((bell) => work(bell, maker.byModel, signal)),
        keepClean(signal),
      ]);
    },
  };
}
