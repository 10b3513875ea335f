import { HOUR_MS } from '../../model/time-units.ts';
import type { Clock } from '../../runtime/clock.ts';
import { recordOfUser } from '../audit-log/shared.sql.ts';
import type { Store } from '../database/store.ts';
import type { Client } from '../sessions/begin-session.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { emailOf } from './email.ts';
import { linkGone } from './invitations.ts';
import { hashOfLinkToken, newLinkToken } from './link-token.ts';
import { deletePasswordLinks, findPasswordLink, insertPasswordLink } from './links.sql.ts';
import type { Passwords } from './password-hashing.ts';
import { findUserByEmail, setPassword } from './sql.ts';

export const PASSWORD_LINK_HOURS = 24;

export interface PasswordLinksParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly passwords: Passwords;
  readonly sessions: Pick<Sessions, 'endAllIn' | 'forget'>;
}

/**
 * Links with which users who forgot their password choose a new one. Only the operator of the service creates them:
 * an admin of one account must not get access to other accounts of a user.
 */
export interface PasswordLinks {
  /**
   * Replaces earlier links of the user.
   *
   * @returns the token of the link, which works once; null if no user has the email
   */
  create(email: string): Promise<{ readonly token: string; readonly expiresAt: Date } | null>;
  /** The email of the user. @throws ServiceError 404 where the link is not valid */
  show(token: string): Promise<string>;
  /**
   * Sets the password and ends all sessions of the user.
   *
   * @returns the stored hash
   * @throws ServiceError 404 where the link is not valid
   */
  accept(
    given: { readonly token: string; readonly password: string },
    client: Client,
  ): Promise<{ readonly userId: string; readonly passwordHash: string }>;
}

export function createPasswordLinks(parts: PasswordLinksParts): PasswordLinks {
  const { store, clock, ids, passwords, sessions } = parts;
  const linkOf = (token: string) => ({
    tokenHash: hashOfLinkToken(token),
    nowMs: clock.wallMs(),
  });

  const show: PasswordLinks['show'] = async (token) => {
    const email = await findPasswordLink(store, linkOf(token));
    if (email === null) throw linkGone();
    return email;
  };

  return {
    show,

    async create(given) {
      const email = emailOf(given);
      const { token, tokenHash } = newLinkToken();
      const createdAtMs = clock.wallMs();
      const expiresAtMs = createdAtMs + PASSWORD_LINK_HOURS * HOUR_MS;
      return await store.transaction(async (tx) => {
        const user = await findUserByEmail(tx, email);
        if (user === null) return null;
        await deletePasswordLinks(tx, email);
        await insertPasswordLink(tx, { id: ids(), email, tokenHash, createdAtMs, expiresAtMs });
        const by = { actor: 'operator', address: null } as const;
        const recorded = { userId: user.id, atMs: createdAtMs, action: 'password-link' } as const;
        await recordOfUser(tx, { ...recorded, ...by });
        return { token, expiresAt: new Date(expiresAtMs) };
      });
    },

    async accept({ token, password }, { address }) {
      // Hashing is slow, so it is done only for a valid link.
      await show(token);
      const passwordHash = await passwords.hash(password);
      const userId = await store.transaction(async (tx) => {
        const email = await findPasswordLink(tx, linkOf(token));
        // The second of two concurrent uses waits here, and finds no link.
        if (email === null || !(await deletePasswordLinks(tx, email))) throw linkGone();
        const user = await findUserByEmail(tx, email);
        if (user === null) throw linkGone();
        await setPassword(tx, { id: user.id, passwordHash });
        await sessions.endAllIn(tx, user.id);
        const by = { actor: 'user', address } as const;
        const recorded = {
          userId: user.id,
          atMs: clock.wallMs(),
          action: 'password-change',
        } as const;
        await recordOfUser(tx, { ...recorded, ...by });
        return user.id;
      });
      sessions.forget(userId);
      return { userId, passwordHash };
    },
  };
}
