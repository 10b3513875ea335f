import type { Logger } from '../../runtime/logger.ts';
import type { Store } from '../database/port.ts';
import { excuseAbsence, isAbsenceOpen, recordAlive, returned } from './presence.sql.ts';

export interface PresenceParts {
  readonly store: Store;
  readonly log: Logger;
}

/**
 * Whether the service was there to take pings: every replica tells so every two seconds. Where none
 * did for longer – stopped, asleep, or without its database – the first that does again grants what
 * may have been pinged in vain the time to be pinged once more (see `excuseAbsence`).
 */
export interface ServicePresence {
  /** Tells that this replica is there at the instant, and excuses an absence before it. */
  tell(atMs: number): Promise<void>;
  /** Excuses an absence that nobody has excused yet, for whoever judges before the next telling. */
  ensure(atMs: number): Promise<void>;
}

/** Looks are a second apart: so every other one tells. */
const TELL_EVERY_MS = 1_500;
/** A replica that starts finds nothing older where another one runs. */
const MAX_SILENCE_AT_START_MS = 3_000;
/** One that runs may be slow, and a pause of it is not yet an absence. */
const MAX_SILENCE_MS = 5_000;

export function createPresence({ store, log }: PresenceParts): ServicePresence {
  let toldMs: number | null = null;

  async function comeBack(atMs: number, maxSilenceMs: number): Promise<void> {
    const found = await store.transaction(async (tx) => {
      const fromMs = await returned(tx, { atMs, maxSilenceMs });
      if (fromMs === null) return null;
      return { fromMs, heartbeats: await excuseAbsence(tx, { fromMs, toMs: atMs }) };
    });
    if (found === null) return;
    // Where none was waiting nothing came of it, as at every quiet restart.
    log[found.heartbeats > 0 ? 'warn' : 'debug'](
      { heartbeats: found.heartbeats, awayMs: atMs - found.fromMs },
      'no pings could be taken for a while: the heartbeats that may have been pinged meanwhile get a whole period more',
    );
  }

  return {
    async tell(atMs) {
      // By the wall clock, which goes on while the machine sleeps.
      if (toldMs !== null && Math.abs(atMs - toldMs) < TELL_EVERY_MS) return;
      const maxSilenceMs = toldMs === null ? MAX_SILENCE_AT_START_MS : MAX_SILENCE_MS;
      if (!(await recordAlive(store, { atMs, maxSilenceMs }))) await comeBack(atMs, maxSilenceMs);
      toldMs = atMs;
    },

    async ensure(atMs) {
      const asked = { atMs, maxSilenceMs: MAX_SILENCE_MS };
      if (await isAbsenceOpen(store, asked)) await comeBack(atMs, MAX_SILENCE_MS);
    },
  };
}
