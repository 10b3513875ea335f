import { randomBytes } from 'node:crypto';
import type { Clock } from '../../runtime/clock.ts';
import { storableText } from '../../runtime/text/storable-text.ts';
import { recordOfUser } from '../audit-log/shared.sql.ts';
import type { Store, Transaction } from '../database/store.ts';
import { wrongPassword } from '../errors.ts';
import { hashOfKey } from '../http/access/key-hashes.ts';
import { noteSignIn } from '../users/shared.sql.ts';
import { newDeviceToken } from './known-device.ts';
import { endsOf, type SessionEnds, type SessionLimits } from './session-config.ts';
import { deleteSessionsBeyond, insertSession, listSessions } from './sql.ts';

const TOKEN_BYTES = 32;
/** A further sign-in ends the oldest one. */
const MAX_SESSIONS_PER_USER = 100;
const MAX_USER_AGENT_CHARS = 300;

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
  /** By the password with this stored hash, which may have changed since. */
  | { readonly kind: 'password'; readonly checkedHash: string }
  /** By the link for the first user. */
  | { readonly kind: 'setup' }
  /** By the link that `vedette up` prints. */
  | { readonly kind: 'sign-in-link' }
  /** By another session, which the new one does not outlast. */
  | { readonly kind: 'session'; readonly id: string }
  /** By an identity provider, which may disable the user; limits the duration of the session. */
  | { readonly kind: 'provider'; readonly maxMs: number };

interface BeginParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly limits: SessionLimits;
}

/**
 * Signs a user in.
 *
 * @throws ServiceError 401 where the password has changed or the other session has ended since, or the
 *   user does not exist
 */
export async function beginSession(
  { store, clock, ids, limits }: BeginParts,
  userId: string,
  { address, userAgent }: Client,
  by: SignInProof,
): Promise<NewSession> {
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
    const isBounded = by.kind === 'session';
    const lastEndMs = isBounded
      ? await endOfSession(tx, userId, by.id, endsOf(clock, limits))
      : Infinity;
    const endsAt = new Date(Math.min(nowMs + maxMs, lastEndMs));
    await insertSession(tx, { ...session, endsAt });
    await deleteSessionsBeyond(tx, { userId, max: MAX_SESSIONS_PER_USER });
    const actor = by.kind === 'sign-in-link' ? 'operator' : 'user';
    await recordOfUser(tx, { userId, atMs: nowMs, actor, address, action: 'sign-in' });
    return endsAt;
  });
  const device = checkedHash === null ? null : newDeviceToken(checkedHash);
  return { token, maxAgeSeconds: Math.floor((endsAt.getTime() - nowMs) / 1000), device };
}

/** Epoch milliseconds. */
async function endOfSession(
  tx: Transaction,
  userId: string,
  id: string,
  ends: SessionEnds,
): Promise<number> {
  const active = await listSessions(tx, userId, ends);
  const found = active.find((each) => each.id === id);
  if (found === undefined) throw wrongPassword();
  return found.endsAt.getTime();
}
