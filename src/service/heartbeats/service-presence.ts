import type { Logger } from '../../runtime/logger.ts';
import type { Store } from '../database/store.ts';
import { excuseAbsence, isAbsenceOpen, recordAlive, recordReturn } from './service-presence.sql.ts';

export interface PresenceParts {
  readonly store: Store;
  readonly log: Logger;
}

/**
 * Tracks whether the service was available for pings: every replica records its presence every two seconds.
 * After a gap (service stopped or asleep, database unavailable), the first replica that records again extends
 * the deadlines of heartbeats whose pings may have been lost (see `excuseAbsence`).
 */
export interface ServicePresence {
  /** Records that this replica is present, and excuses an absence before that. */
  record(atMs: number): Promise<void>;
  /** Excuses an absence not excused yet, for callers that judge before the next record. */
  ensure(atMs: number): Promise<void>;
}

/** Scans are about a second apart, so every other one records. */
const RECORD_EVERY_MS = 1_500;
/** A starting replica finds nothing older if another one runs. */
const MAX_SILENCE_AT_START_MS = 3_000;
/** A running replica may be slow; a short pause is not an absence. */
const MAX_SILENCE_MS = 5_000;

export function createPresence({ store, log }: PresenceParts): ServicePresence {
  let recordedMs: number | null = null;

  async function excuse(atMs: number, maxSilenceMs: number): Promise<void> {
    const found = await store.transaction(async (tx) => {
      const fromMs = await recordReturn(tx, { atMs, maxSilenceMs });
      if (fromMs === null) return null;
      return { fromMs, heartbeats: await excuseAbsence(tx, { fromMs, toMs: atMs }) };
    });
    if (found === null) return;
    // Nothing to log if no heartbeat was waiting.
    log[found.heartbeats > 0 ? 'warn' : 'debug'](
      { heartbeats: found.heartbeats, awayMs: atMs - found.fromMs },
      'the service could not receive pings for a while: heartbeats whose pings may be lost get one more period',
    );
  }

  return {
    async record(atMs) {
      // The wall clock advances while the machine sleeps.
      if (recordedMs !== null && Math.abs(atMs - recordedMs) < RECORD_EVERY_MS) return;
      const maxSilenceMs = recordedMs === null ? MAX_SILENCE_AT_START_MS : MAX_SILENCE_MS;
      if (!(await recordAlive(store, { atMs, maxSilenceMs }))) await excuse(atMs, maxSilenceMs);
      recordedMs = atMs;
    },

    async ensure(atMs) {
      const maxSilenceMs = MAX_SILENCE_MS;
      if (await isAbsenceOpen(store, { atMs, maxSilenceMs })) await excuse(atMs, maxSilenceMs);
    },
  };
}
