import { batched } from '../../runtime/batched.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { recordOfUser } from '../audit-log/shared.sql.ts';
import { everyHour } from '../database/every-hour.ts';
import { removeInBatches } from '../database/retention.ts';
import type { Store, Transaction } from '../database/store.ts';
import type { SignedIn } from '../http/access/caller.ts';
import { KEY_TTL_MS, KeyCache, MAX_CACHED_KEYS } from '../http/access/key-cache.ts';
import { beginSession, type Client, type NewSession, type SignInProof } from './begin-session.ts';
import { endsOf, type SessionLimits } from './session-config.ts';
import {
  deleteEndedSessions,
  deleteSession,
  deleteSessionsOf,
  findActiveSessions,
  listSessions,
  type StoredSession,
  touchSession,
} from './sql.ts';

/** A session's last use is stored at most this often. */
const TOUCH_EVERY_MS = 60_000;
const ROWS_AT_ONCE = 1_000;

export interface SessionsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly limits: SessionLimits;
}

/** The sessions of users: README.md of this folder. */
export interface Sessions {
  /** Finds the user of a session by the hash of its token, for requests. */
  readonly cache: KeyCache<SignedIn>;
  /**
   * Signs a user in.
   *
   * @throws ServiceError 401 where the password has changed or the other session has ended since, or the
   *   user does not exist
   */
  start(userId: string, client: Client, by: SignInProof): Promise<NewSession>;
  /** The most recent sign-in first. */
  list(userId: string): Promise<readonly StoredSession[]>;
  /**
   * @param address the IP address of the user who ends it
   * @returns false where the user has no such session
   */
  end(userId: string, id: string, address: string): Promise<boolean>;
  endAll(userId: string, address: string): Promise<void>;
  /** Ends all sessions within a transaction; call `forget` for the user afterwards. */
  endAllIn(tx: Transaction, userId: string): Promise<void>;
  /** Makes changes of a user take effect on this replica at once; on others within KEY_TTL_MS. */
  forget(userId: string): void;
  /** Deletes ended sessions until the signal aborts. */
  maintain(signal: AbortSignal): Promise<void>;
}

export function createSessions({ store, clock, log, ids, limits }: SessionsParts): Sessions {
  const ends = () => endsOf(clock, limits);
  const find = batched((_all, hashes: readonly Uint8Array[]) =>
    findActiveSessions(store, hashes, ends()),
  );
  const authenticate = async (hash: Buffer): Promise<SignedIn | null> => {
    const found = await find('', hash);
    if (found === null) return null;
    const { id, userId, email, memberships, lastUsedAt } = found;
    const usedAtMs = clock.wallMs();
    if (usedAtMs - lastUsedAt.getTime() > TOUCH_EVERY_MS) {
      await touchSession(store, { id, usedAtMs, staleMs: TOUCH_EVERY_MS });
    }
    return { sessionId: id, userId, email, memberships };
  };
  const cache = new KeyCache({
    holders: { authenticate },
    clock,
    ttlMs: KEY_TTL_MS,
    maxEntries: MAX_CACHED_KEYS,
  });
  const forget = (ofUser: string): void => cache.forget(({ userId }) => userId === ofUser);

  return {
    cache,
    forget,

    start: (userId, client, by) => beginSession({ store, clock, ids, limits }, userId, client, by),

    list: (userId) => listSessions(store, userId, ends()),

    async end(userId, id, address) {
      const atMs = clock.wallMs();
      const isEnded = await store.transaction(async (tx) => {
        if (!(await deleteSession(tx, { userId, id }))) return false;
        await recordOfUser(tx, { userId, atMs, actor: 'user', address, action: 'sign-out' });
        return true;
      });
      forget(userId);
      return isEnded;
    },

    async endAll(userId, address) {
      const atMs = clock.wallMs();
      await store.transaction(async (tx) => {
        await deleteSessionsOf(tx, userId);
        await recordOfUser(tx, {
          userId,
          atMs,
          actor: 'user',
          address,
          action: 'sign-out-everywhere',
        });
      });
      forget(userId);
    },

    endAllIn: (tx, userId) => deleteSessionsOf(tx, userId),

    maintain: (signal) =>
      everyHour(
        { clock, log },
        'ended sessions were not deleted',
        () => {
          const remove = (limit: number) => deleteEndedSessions(store, ends(), limit);
          return removeInBatches(ROWS_AT_ONCE, remove, signal);
        },
        signal,
      ),
  };
}
