import type { Clock } from '../../runtime/clock.ts';
import { recordOfUser } from '../audit-log/shared.sql.ts';
import type { Store } from '../database/store.ts';
import { conflict, forbidden, type ServiceError } from '../errors.ts';
import type { Passwords } from '../users/password-hashing.ts';
import { deletePasswordLinks, findUser, updatePassword } from '../users/shared.sql.ts';
import type { Client, NewSession } from './begin-session.ts';
import type { Sessions } from './sessions.ts';
import type { SignIn } from './sign-in.ts';

export interface ChangePasswordParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly signIn: Pick<SignIn, 'isPassword'>;
}

/**
 * Changes the password. Ends all sessions of the user, and invalidates the operator's link for a new password.
 *
 * @throws ServiceError 403 if the present one is wrong, 409 if it changed meanwhile, 429 after too many
 *   wrong ones
 */
export type ChangePassword = (
  userId: string,
  given: { currentPassword: string; newPassword: string },
  client: Client,
) => Promise<NewSession>;

export function createChangePassword(parts: ChangePasswordParts): ChangePassword {
  const { store, clock, passwords, sessions, signIn } = parts;
  return async (userId, { currentPassword, newPassword }, client) => {
    const user = await findUser(store, userId);
    const known = user && (await signIn.isPassword(user.email, currentPassword, client));
    if (known === null) throw wrongPresentPassword();
    const passwordHash = await passwords.hash(newPassword);
    await store.transaction(async (tx) => {
      // Links are locked before users everywhere.
      await deletePasswordLinks(tx, known.email);
      const changed = { id: userId, passwordHash, insteadOf: known.passwordHash };
      // The current password was right when it was checked, so another change came first.
      if (!(await updatePassword(tx, changed))) throw passwordChangedMeanwhile();
      await sessions.endAllIn(tx, userId);
      const { address } = client;
      const atMs = clock.wallMs();
      await recordOfUser(tx, { userId, atMs, actor: 'user', address, action: 'password-change' });
    });
    sessions.forget(userId);
    return await sessions.start(userId, client, { kind: 'password', checkedHash: passwordHash });
  };
}

function wrongPresentPassword(): ServiceError {
  return forbidden('The current password is wrong');
}

function passwordChangedMeanwhile(): ServiceError {
  return conflict('The password was changed meanwhile; sign in with the new one');
}
