import type { Logger } from '../../runtime/logger.ts';
import type { AuditLog } from '../audit-log/audit-log.ts';
import type { Store } from '../database/store.ts';
import { wrongPassword } from '../errors.ts';
import { emailOf } from '../users/email.ts';
import type { Passwords } from '../users/password-hashing.ts';
import { findUserByEmail, type StoredUser, updatePassword } from '../users/shared.sql.ts';
import type { Client, NewSession } from './begin-session.ts';
import { deviceOf } from './known-device.ts';
import type { Sessions } from './sessions.ts';
import type { SignInThrottle } from './sign-in-throttle.ts';

export interface SignInParts {
  readonly store: Store;
  readonly log: Logger;
  readonly passwords: Passwords;
  readonly signInThrottle: Pick<SignInThrottle, 'begin'>;
  readonly sessions: Sessions;
  readonly failedSignIns: Pick<AuditLog['failedSignIns'], 'add'>;
}

/** A user with the hash that was checked; the stored hash may have changed since. */
export type CheckedUser = StoredUser & { readonly passwordHash: string };

/** Signing in by email and password. */
export interface SignIn {
  /** @throws ServiceError 401 for every wrong pair, 429 after too many of them */
  byPassword(given: { email: string; password: string }, client: Client): Promise<NewSession>;
  /** Whether it is the user's password. @throws ServiceError 429 after too many wrong ones */
  isPassword(email: string, password: string, client: Client): Promise<CheckedUser | null>;
}

export function createSignIn(parts: SignInParts): SignIn {
  const { store, log, passwords, signInThrottle, sessions, failedSignIns } = parts;

  const knownDevice = async (email: string, { device }: Client): Promise<string | null> => {
    if (device === null) return null;
    const passwordHash = (await findUserByEmail(store, email))?.passwordHash ?? null;
    return passwordHash === null ? null : deviceOf(device, passwordHash);
  };

  const isPassword: SignIn['isPassword'] = async (given, password, client) => {
    const { address } = client;
    const email = emailOf(given);
    const takeBack = await signInThrottle.begin(email, address, await knownDevice(email, client));
    const check = async () => {
      const user = await findUserByEmail(store, email);
      const checkedHash = user?.passwordHash ?? null;
      return { user, checkedHash, verdict: await passwords.check(checkedHash, password) };
    };
    const { user, checkedHash, verdict } = await check().catch(async (error: unknown) => {
      // The password was not judged. An error of uncounting the attempt must not hide the original error.
      await takeBack().catch(() => {});
      throw error;
    });
    if (user === null || checkedHash === null || verdict === 'wrong') {
      failedSignIns.add(email, address);
      log.info({ userId: user?.id, address }, 'a sign-in failed: wrong email or password');
      return null;
    }
    await takeBack();
    if (verdict === 'right') return { ...user, passwordHash: checkedHash };
    const passwordHash = await passwords.hash(password);
    const renewed = { id: user.id, passwordHash, insteadOf: checkedHash };
    if (await updatePassword(store, renewed)) return { ...user, passwordHash };
    // Another sign-in hashed the password again at the same time, or the password has changed.
    return await isPassword(given, password, client);
  };

  return {
    isPassword,

    async byPassword({ email, password }, client) {
      const user = await isPassword(email, password, client);
      if (user === null) throw wrongPassword();
      return await sessions.start(user.id, client, {
        kind: 'password',
        checkedHash: user.passwordHash,
      });
    },
  };
}
