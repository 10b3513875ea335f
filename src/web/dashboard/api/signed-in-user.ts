import { computed, signal } from '@preact/signals';
import { api, bodyOf, useAccountOf } from './client.ts';

/** From the lowest to the highest. */
const ROLES = ['read', 'run', 'write', 'admin'] as const;
export type Role = (typeof ROLES)[number];

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
}

export interface Session {
  readonly email: string;
  readonly accounts: readonly Account[];
  /** The account that the pages show; null if the user belongs to none. */
  readonly account: Account | null;
}

const KEPT_AS = 'vedette-account';

const state = signal<Session | null>(null);

/** The signed-in user. Pages are shown only after the user is known. */
export const session = computed<Session>(() => {
  if (state.value === null) throw new Error('the session is not loaded yet');
  return state.value;
});

/** @throws ApiError */
export async function loadSession(signal: AbortSignal): Promise<void> {
  const { user, accounts } = await bodyOf(api.GET('/v1/session', { signal }));
  const account = accounts.find(({ id }) => id === wantedId()) ?? accounts[0] ?? null;
  useAccountOf(account?.id ?? null);
  if (account !== null) keep(account.id);
  state.value = { email: user.email, accounts, account };
}

/** Whether the user has at least the role. The API checks it in any case. */
export function may(role: Role): boolean {
  const { account } = session.value;
  return account !== null && ROLES.indexOf(account.role) >= ROLES.indexOf(role);
}

/** The account in the address, so that a link shows the same to colleagues; otherwise the last one in this browser. */
function wantedId(): string | null {
  const named = new URLSearchParams(location.search).get('account');
  if (named !== null) return named;
  try {
    return localStorage.getItem(KEPT_AS);
  } catch {
    return null;
  }
}

function keep(id: string): void {
  try {
    localStorage.setItem(KEPT_AS, id);
  } catch {
    // The storage may be blocked: then only the address names the account.
  }
}

/** The query of paths of the dashboard that names the account if the user has several. */
export const accountQuery = computed<string>(() => {
  const known = state.value;
  if (known === null || known.accounts.length < 2 || known.account === null) return '';
  return `account=${known.account.id}`;
});
