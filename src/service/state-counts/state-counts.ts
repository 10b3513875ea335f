import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { runEvery } from '../../runtime/run-every.ts';
import type { Store } from '../database/store.ts';
import { storeErrorKind } from '../database/store-errors.ts';
import { NO_SERVICE_COUNTS, type ServiceCounts } from './service-counts.ts';
import { countCheckStates, countLiveAgents } from './sql.ts';

export interface StateCounterParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Counts checks by state and live agents by location for the metrics in the background: a scrape must not wait. */
export interface StateCounter {
  /** Reads the database once. */
  read(): Promise<void>;
  /** Reads about every 30 seconds while the counts are in use, until the signal aborts. Logs failures. */
  maintain(signal: AbortSignal): Promise<void>;
  /** The counts of the last reading. */
  counts(): ServiceCounts;
}

const READ_EVERY_MS = 30_000;
/** How long the counts are updated after their last use; longer than the usual scrape interval. */
const WANTED_FOR_MS = 5 * 60_000;
const MAX_BACK_OFF_MS = 120_000;
/** Each location is a series of the metric. */
const MAX_LOCATIONS = 1_000;

export function createStateCounter({ store, clock, log }: StateCounterParts): StateCounter {
  let counts = NO_SERVICE_COUNTS;
  /** null until the counts were first used. */
  let wantedAtMs: number | null = null;

  async function read(): Promise<void> {
    const found = new Map(
      (await countCheckStates(store)).map(({ state, checks }) => [state, checks]),
    );
    const { first, locations } = await countLiveAgents(store, { limit: MAX_LOCATIONS });
    counts = {
      // A state without checks is 0, not unknown.
      checks: {
        failing: 0,
        degraded: 0,
        unknown: 0,
        passing: 0,
        paused: 0,
        ...Object.fromEntries(found),
      },
      agents: first,
      locationsLeftOut: Math.max(0, locations - first.length),
    };
  }

  async function readIfWanted(): Promise<void> {
    if (wantedAtMs !== null && clock.monotonicMs() - wantedAtMs <= WANTED_FOR_MS)
      return await read();
    // Counting reads all checks of all accounts, so it stops without use. Old counts must not be shown later.
    counts = NO_SERVICE_COUNTS;
  }

  return {
    read,
    maintain(signal) {
      const options = {
        everyMs: READ_EVERY_MS,
        maxMs: MAX_BACK_OFF_MS,
        failure: 'checks and agents could not be counted for the metrics',
        kindOf: storeErrorKind,
        log,
      };
      return runEvery(clock, options, readIfWanted, signal);
    },
    counts() {
      wantedAtMs = clock.monotonicMs();
      return counts;
    },
  };
}
