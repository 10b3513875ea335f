import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { WakeSignal } from '../../runtime/wake-signal.ts';
import type { Store } from '../database/port.ts';
import { everyHour, removePastRetention } from '../database/retention.ts';
import { StoreError } from '../database/store-errors.ts';
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
    let delayMs = LOOK_EVERY_MS;
    let fault: string | null = null;
    while (!signal.aborted) {
      try {
        const made = await make(signal);
        delayMs = LOOK_EVERY_MS;
        fault = null;
        // Of what the rules made, the model may have something to do.
        if (made > 0) {
          for (const other of models) if (other !== bell) other.ring();
          continue;
        }
      } catch (error) {
        const kind = error instanceof StoreError ? error.code : 'OTHER';
        if (kind !== fault && !signal.aborted) {
          log.warn(`root cause analyses could not be made: ${messageOf(error)}`);
        }
        fault = kind;
        delayMs = Math.min(MAX_BACK_OFF_MS, delayMs * 2);
      }
      // Replicas that were started together need not come together each time.
      await bell.wait(clock, delayMs * (0.75 + Math.random() / 2), signal);
    }
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
