import { randomBytes } from 'node:crypto';
import { batched } from '../../runtime/batched.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { storableText } from '../../runtime/text/storable-text.ts';
import { recordOfUser } from '../audit-log/shared.sql.ts';
import { everyHour, removeInBatches } from '../database/retention.ts';
import type { Store, Transaction } from '../database/store.ts';
import { wrongPassword } from '../errors.ts';
import { hashOfKey, type SignedIn } from '../http/access/authenticator.ts';
import { KEY_TTL_MS, KeyCache, MAX_CACHED_KEYS } from '../http/access/key-cache.ts';
import { noteSignIn } from '../users/shared.sql.ts';
import { newDeviceToken } from './known-device.ts';
import type { SessionLimits } from './session-config.ts';
import {
  deleteEndedSessions,
  deleteSession,
  deleteSessionsBeyond,
  deleteSessionsOf,
  findActiveSessions,
  insertSession,
  listSessions,
  type StoredSession,
  touchSession,
} from './sql.ts';

const TOKEN_BYTES = 32;
/** A session's last use is stored at most this often. */
const TOUCH_EVERY_MS = 60_000;
/** A further sign-in ends the oldest one. */
const MAX_SESSIONS_PER_USER = 100;
const MAX_USER_AGENT_CHARS = 300;
const ROWS_AT_ONCE = 1_000;

export interface SessionsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly limits: SessionLimits;
}

/** Where a request comes from. */
export interface Client {
  readonly address: string;
  readonly userAgent: string;
  /** The token that an earlier sign-in gave to the browser (known-device.ts); null without one. */
  readonly device: string | null;
}

export interface NewSession {
  /** For the cookie: only its hash is stored. */
  readonly token: string;
  readonly maxAgeSeconds: number;
  /** For the cookie that marks the browser as known; null if the user did not give a password. */
  readonly device: string | null;
}

/** How a user proved who they are. */
export type SignInProof =
  /** By the password with this stored hash: it may be another one by now. */
  | { readonly kind: 'password'; readonly checkedHash: string }
  /** By the link for the first user. */
  | { readonly kind: 'setup' }
  /** By the link that `vedette up` prints. */
  | { readonly kind: 'sign-in-link' }
  /** By another session, which the new one does not outlast. */
  | { readonly kind: 'session'; readonly id: string }
  /** By an identity provider, which may disable the user: the session lasts so long, at most. */
  | { readonly kind: 'provider'; readonly maxMs: number };

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
   * @param address where the user is who ends it
   * @returns false where the user has no such session
   */
  end(userId: string, id: string, address: string): Promise<boolean>;
  endAll(userId: string, address: string): Promise<void>;
  /** The same as a part of a transaction; `forget` the user after it. */
  endAllIn(tx: Transaction, userId: string): Promise<void>;
  /** Makes changes of a user take effect on this replica at once; on others within KEY_TTL_MS. */
  forget(userId: string): void;
  /** Deletes ended sessions until the signal aborts. */
  maintain(signal: AbortSignal): Promise<void>;
}

export function createSessions({ store, clock, log, ids, limits }: SessionsParts): Sessions {
  const ends = () => ({
    nowMs: clock.wallMs(),
    idleSinceMs: clock.wallMs() - limits.idleMs,
  });
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
  const endOf = async (tx: Transaction, userId: string, id: string): Promise<number> => {
    const active = await listSessions(tx, userId, ends());
    const found = active.find((each) => each.id === id);
    if (found === undefined) throw wrongPassword();
    return found.endsAt.getTime();
  };
  const forget = (ofUser: string): void => cache.forget(({ userId }) => userId === ofUser);

  return {
    cache,
    forget,

    async start(userId, { address, userAgent }, by) {
      const token = randomBytes(TOKEN_BYTES).toString('base64url');
      const nowMs = clock.wallMs();
      const now = new Date(nowMs);
      const checkedHash = by.kind === 'password' ? by.checkedHash : null;
      const maxMs = Math.min(limits.maxMs, by.kind === 'provider' ? by.maxMs : limits.maxMs);
      const session = {
        id: ids(),
        userId,
        address,
        userAgent: storableText(userAgent.slice(0, MAX_USER_AGENT_CHARS)),
        createdAt: now,
        lastUsedAt: now,
        tokenHash: hashOfKey(token),
      };
      const endsAt = await store.transaction(async (tx) => {
        // Locks the user: a change of the password that comes later ends this session, too.
        const isUser = await noteSignIn(tx, { id: userId, atMs: nowMs, checkedHash });
        if (!isUser) throw wrongPassword();
        const lastEnd = by.kind === 'session' ? await endOf(tx, userId, by.id) : Infinity;
        const endsAt = new Date(Math.min(nowMs + maxMs, lastEnd));
        await insertSession(tx, { ...session, endsAt });
        await deleteSessionsBeyond(tx, { userId, max: MAX_SESSIONS_PER_USER });
        const actor = by.kind === 'sign-in-link' ? 'operator' : 'user';
        await recordOfUser(tx, { userId, atMs: nowMs, actor, address, action: 'sign-in' });
        return endsAt;
      });
      const device = checkedHash === null ? null : newDeviceToken(checkedHash);
      return { token, maxAgeSeconds: Math.floor((endsAt.getTime() - nowMs) / 1000), device };
    },

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
