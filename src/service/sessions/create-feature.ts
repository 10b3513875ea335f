import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { AuditLog } from '../audit-log/audit-log.ts';
import type { Store } from '../database/store.ts';
import { createInvitations, type Invitations } from '../users/invitations.ts';
import { createPasswords, type Passwords } from '../users/password-hashing.ts';
import { createPasswordLinks, type PasswordLinks } from '../users/password-links.ts';
import { createSetup, type Setup } from '../users/setup.ts';
import { createSignInLink, type SignInLink } from '../users/sign-in-link.ts';
import { createUsers, type Users } from '../users/users.ts';
import { type ChangePassword, createChangePassword } from './change-password.ts';
import { DEFAULT_SESSION_LIMITS, type SessionLimits } from './session-config.ts';
import { createSessions, type Sessions } from './sessions.ts';
import { createSignIn, type SignIn } from './sign-in.ts';
import { createSignInThrottle, type SignInThrottle } from './sign-in-throttle.ts';

/** Users, how they sign in, and their sessions. */
export interface UserFeatures {
  readonly users: Users;
  readonly invitations: Invitations;
  readonly setup: Setup;
  readonly passwordLinks: PasswordLinks;
  readonly signInLink: SignInLink;
  readonly sessions: Sessions;
  readonly signInThrottle: SignInThrottle;
  readonly signIn: SignIn;
  readonly changePassword: ChangePassword;
}

export function createUserFeatures(given: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly ids: () => string;
  /** Default: DEFAULT_SESSION_LIMITS. */
  readonly limits: SessionLimits | undefined;
  /** Default: those with the present cost. */
  readonly passwords: Passwords | undefined;
  readonly failedSignIns: AuditLog['failedSignIns'];
}): UserFeatures {
  const { limits = DEFAULT_SESSION_LIMITS, passwords = createPasswords(), ...parts } = given;
  const sessions = createSessions({ ...parts, limits });
  const signInThrottle = createSignInThrottle(parts);
  const signIn = createSignIn({ ...parts, passwords, signInThrottle, sessions });
  return {
    users: createUsers({ ...parts, sessions }),
    invitations: createInvitations({ ...parts, passwords, sessions, signIn }),
    setup: createSetup({ ...parts, passwords }),
    passwordLinks: createPasswordLinks({ ...parts, passwords, sessions }),
    signInLink: createSignInLink({ ...parts, sessions }),
    sessions,
    signInThrottle,
    signIn,
    changePassword: createChangePassword({ ...parts, passwords, sessions, signIn }),
  };
}
