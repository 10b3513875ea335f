import { DAY_MS } from '../../model/time-units.ts';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { runEvery } from '../../runtime/run-every.ts';
import { countText } from '../../runtime/text/count-text.ts';
import type { LocationAlerts, SilentLocation } from '../alerts/location-alerts.ts';
import type { Sql, Store } from '../database/store.ts';
import { StoreError, storeErrorKind } from '../database/store-errors.ts';
import { PollAvailability } from './poll-availability.ts';
import {
  countSilentLocations,
  deleteEndedSilences,
  insertSilentLocations,
  lockDueSilence,
  lockPendingNotices,
  putNoticesPending,
} from './silent-locations.sql.ts';
import { recordSilentSlots } from './silent-slots.ts';

export interface LocationSilenceParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly locationAlerts: LocationAlerts;
  /** How long an agent may be silent before its checks are given to others. */
  readonly leaseMs: number;
  /** Retention in whole days, the same as for results. */
  readonly retentionDays: number;
}

/**
 * Finds the private locations whose checks do not run because no agent polls, and records their slots
 * as missed: src/service/README.md, "Silent locations". Replicas share the work.
 */
export interface LocationSilence {
  /**
   * Ends and begins silences, and records missed slots for some seconds at most.
   *
   * @returns whether there are more slots to record
   */
  scan(signal?: AbortSignal): Promise<boolean>;
  /** Scans about every ten seconds until the signal aborts. Logs failures. */
  maintain(signal: AbortSignal): Promise<void>;
  /** Counts of the last scan, and counts since the start of this replica. */
  counts(): SilenceCounts;
}

export interface SilenceCounts {
  readonly silentLocations: number;
  readonly silentSlotsMissed: number;
}

const SCAN_EVERY_MS = 10_000;
const MAX_BACK_OFF_MS = 20_000;
/** A larger gap between scans is an interruption. Scans take some seconds. */
const MAX_GAP_MS = 25_000;
/** The longest wait of agents between two attempts to reach the service. */
const AGENT_PAUSE_MS = 30_000;
/** AGENT_PAUSE_MS plus the time of a poll. */
const AGENTS_RETURN_MS = 45_000;
/** Writes take longer only if the database stalls; agents then could not poll either. */
const MAX_WRITE_MS = 5_000;
/** As far back as agents report slots that nobody ran (src/service/README.md, "Leases and assignment"). */
const MAX_DAYS_BACK = 7;
const LOCATIONS_AT_ONCE = 20;
/** Time limit for recording slots in one scan: the ends of silences must not wait for a long backlog. */
const SLOTS_BUDGET_MS = 3_000;

export function createLocationSilence({
  store,
  clock,
  log,
  locationAlerts,
  leaseMs,
  retentionDays,
}: LocationSilenceParts): LocationSilence {
  // Counted from the end of the lease: a restarted agent is back by then. Shorter for short leases.
  const quietMs = leaseMs + Math.min(AGENTS_RETURN_MS, 3 * leaseMs);
  const settledMs = Math.max(AGENTS_RETURN_MS, leaseMs + AGENT_PAUSE_MS);
  const oldestMs = Math.min(retentionDays, MAX_DAYS_BACK) * DAY_MS;
  const availability = new PollAvailability(clock, { maxGapMs: MAX_GAP_MS });
  let silentLocations = 0;
  let silentSlotsMissed = 0;
  /** Faults of the last scan; each fault is logged once. */
  let knownFaults: ReadonlySet<string> = new Set();

  async function end(atMs: number): Promise<void> {
    for (;;) {
      const limit = LOCATIONS_AT_ONCE;
      const ended = await store.transaction(async (tx) => {
        const locations = await deleteEndedSilences(tx, { atMs, limit });
        for (const location of locations) await locationAlerts.ended(tx, location, atMs);
        return locations;
      });
      for (const location of ended) {
        const facts = factsOf(location);
        if (location.checks === 0) log.info(facts, 'a silent location has no checks any more');
        else log.info(facts, 'agents of a silent location poll again: its checks run');
      }
      if (ended.length < limit) return;
    }
  }

  async function notify(tx: Sql, location: SilentLocation, atMs: number): Promise<void> {
    const isPending = await locationAlerts.silent(tx, location, atMs);
    await putNoticesPending(tx, { locationId: location.locationId, isPending });
  }

  /** Sends pending notices for locations whose maintenance window has ended. */
  async function notifyPending(atMs: number): Promise<void> {
    const limit = LOCATIONS_AT_ONCE;
    for (let afterId = ''; ; ) {
      const page = { afterId, limit };
      const locations = await store.transaction(async (tx) => {
        const found = await lockPendingNotices(tx, page);
        for (const location of found) await notify(tx, location, atMs);
        return found;
      });
      afterId = locations.at(-1)?.locationId ?? afterId;
      if (locations.length < limit) return;
    }
  }

  async function begin(atMs: number): Promise<void> {
    for (;;) {
      const limit = LOCATIONS_AT_ONCE;
      const found = await store.transaction(async (tx) => {
        const locations = await insertSilentLocations(tx, {
          atMs,
          quietSinceMs: atMs - quietMs,
          oldestMs: atMs - oldestMs,
          limit,
        });
        for (const location of locations) await notify(tx, location, atMs);
        return locations;
      });
      for (const location of found) {
        log.warn(
          factsOf(location),
          `no agent of a private location polls any more, so ${countText(location.checks, 'check')} of it cannot run and their slots are recorded as missed: start an agent there, or look at the log of its agents, their network and their location key`,
        );
      }
      if (found.length < limit) return;
    }
  }

  /** Records missed slots. Skips a location whose slots cannot be recorded, so that it does not block the others. */
  async function recordSlots(atMs: number, signal: AbortSignal | undefined): Promise<boolean> {
    const endMs = clock.monotonicMs() + SLOTS_BUDGET_MS;
    const dueMs = atMs - SCAN_EVERY_MS / 2;
    const faults = new Set<string>();
    let isMore = true;
    while (isMore && signal?.aborted !== true && clock.monotonicMs() < endMs) {
      let locked: string | null = null;
      try {
        const recorded = await store.transaction(async (tx) => {
          const progress = await lockDueSilence(tx, { dueMs, except: [...faults] });
          if (progress === null) return null;
          locked = progress.locationId;
          return recordSilentSlots(tx, clock, progress, atMs);
        });
        isMore = recorded !== null;
        silentSlotsMissed += recorded ?? 0;
      } catch (error) {
        const isAway = error instanceof StoreError && error.kind === 'unavailable';
        if (isAway || locked === null) throw error;
        faults.add(locked);
        if (!knownFaults.has(locked)) {
          const facts = { err: error, locationId: locked };
          log.error(
            facts,
            `the missed slots of a silent location cannot be recorded: ${messageOf(error)}`,
          );
        }
      }
    }
    knownFaults = faults;
    return isMore;
  }

  async function scan(signal?: AbortSignal): Promise<boolean> {
    let isSettled = availability.observe() >= settledMs;
    const atMs = clock.wallMs();
    const startMs = clock.monotonicMs();
    try {
      await end(atMs);
      if (clock.monotonicMs() - startMs > MAX_WRITE_MS) {
        availability.interrupt();
        isSettled = false;
      }
      // Before that, agents may not have had the time to poll again.
      if (isSettled) {
        await begin(atMs);
        await notifyPending(atMs);
      }
      silentLocations = await countSilentLocations(store);
    } catch (error) {
      availability.interrupt();
      throw error;
    }
    return isSettled && silentLocations > 0 && (await recordSlots(atMs, signal));
  }

  return {
    scan,

    maintain(signal) {
      const options = {
        everyMs: SCAN_EVERY_MS,
        maxMs: MAX_BACK_OFF_MS,
        failure: 'silent locations could not be looked for',
        kindOf: storeErrorKind,
        log,
      };
      return runEvery(clock, options, () => scan(signal), signal);
    },

    counts: () => ({ silentLocations, silentSlotsMissed }),
  };
}

function factsOf({ accountId, locationId, slug: location, since, checks }: SilentLocation) {
  return { accountId, locationId, location, checks, silentSince: since.toISOString() };
}
