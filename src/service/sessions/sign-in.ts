import type { Logger } from '../../runtime/logger.ts';
import type { Store } from '../database/store.ts';
import { forbidden, ServiceError } from '../errors.ts';
import { emailOf } from '../users/email.ts';
import type { Passwords } from '../users/passwords.ts';
import { findUser, findUserByEmail, type StoredUser, updatePassword } from '../users/shared.sql.ts';
import type { Attempts } from './attempts.ts';
import type { Client, NewSession, Sessions } from './sessions.ts';

export interface SignInParts {
  readonly store: Store;
  readonly log: Logger;
  readonly passwords: Passwords;
  readonly attempts: Pick<Attempts, 'begin'>;
  readonly sessions: Sessions;
}

/** Signing in by email and password. */
export interface SignIn {
  /** @throws ServiceError 401 for every wrong pair, 429 after too many of them */
  byPassword(given: { email: string; password: string }, client: Client): Promise<NewSession>;
  /** Ends all sessions of the user. @throws as `byPassword`; 403 where the present one is wrong */
  changePassword(
    userId: string,
    given: { currentPassword: string; newPassword: string },
    client: Client,
  ): Promise<NewSession>;
  /** Whether it is the user's password. @throws ServiceError 429 after too many wrong ones */
  isPassword(email: string, password: string, client: Client): Promise<StoredUser | null>;
}

export function createSignIn(parts: SignInParts): SignIn {
  const { store, log, passwords, attempts, sessions } = parts;

  const isPassword: SignIn['isPassword'] = async (given, password, { address }) => {
    const email = emailOf(given);
    const succeed = await attempts.begin(email, address);
    const user = await findUserByEmail(store, email);
    const verdict = await passwords.check(user?.passwordHash ?? null, password);
    if (user === null || verdict === 'wrong') {
      log.info({ userId: user?.id, address }, 'a sign-in failed: wrong email or password');
      return null;
    }
    await succeed();
    if (verdict === 'outdated') {
      const passwordHash = await passwords.hash(password);
      await updatePassword(store, { id: user.id, passwordHash, insteadOf: user.passwordHash });
    }
    return user;
  };

  return {
    isPassword,

    async byPassword({ email, password }, client) {
      const user = await isPassword(email, password, client);
      if (user === null) throw wrongPassword();
      return await sessions.start(user.id, client);
    },

    async changePassword(userId, { currentPassword, newPassword }, client) {
      const user = await findUser(store, userId);
      const known = user && (await isPassword(user.email, currentPassword, client));
      if (known === null) throw forbidden('The current password is wrong');
      const passwordHash = await passwords.hash(newPassword);
      await store.transaction(async (tx) => {
        await updatePassword(tx, { id: userId, passwordHash });
        await sessions.endAllIn(tx, userId);
      });
      sessions.forget(userId);
      return await sessions.start(userId, client);
    },
  };
}

/** 401, the same for an unknown user. */
function wrongPassword(): ServiceError {
  return new ServiceError(401, 'The email or the password is wrong');
}
