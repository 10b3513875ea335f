import type { Role } from '../../model/enums.ts';
import type { Clock } from '../../runtime/clock.ts';
import { VedetteError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { newKey } from '../api-keys/keys.ts';
import { insertApiKey } from '../api-keys/shared.sql.ts';
import { DEFAULT_AUDIT_DAYS } from '../audit-log/audit-config.ts';
import { createAuditLog } from '../audit-log/audit-log.ts';
import { changesBetween } from '../audit-log/changes.ts';
import { insertEntry } from '../audit-log/shared.sql.ts';
import { recordedStore } from '../database/recorded-store.ts';
import type { Store, Transaction } from '../database/store.ts';
import { mayHaveCommitted, type StoreError } from '../database/store-errors.ts';
import { ServiceError } from '../errors.ts';
import { unstorableTexts } from '../http/resources/input-problems.ts';
import { WHOLE_LIST } from '../http/resources/paging.ts';
import { createUserFeatures } from '../sessions/create-feature.ts';
import { emailSchema } from '../users/email.ts';
import { resolveAccount, resolveAccountByName } from './resolve-account.ts';
import {
  countAccounts,
  findAccountsByName,
  findFirstAccount,
  insertAccount,
  lockFirstAccount,
} from './sql.ts';

interface OperatorParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes a UUID. */
  readonly ids: () => string;
}

const OPERATOR = { kind: 'operator', id: null, address: null } as const;
const KEY_NAME = 'First key';
const MAX_NAME_CHARS = 255;

export interface AddedAccount {
  readonly accountId: string;
  /** The whole key, of which only the hash is stored; null if the account existed already. */
  readonly key: string | null;
}

export interface AddAccountOptions {
  /** Whether to change nothing if an account with this name exists. */
  readonly ifMissing?: boolean;
  /**
   * Saves the key before the account is created. An error it throws ends the command. Called again with the same
   * key if the transaction is retried.
   */
  readonly saveKey?: (key: string) => Promise<void>;
  /** Removes the saved key. Called only if it is certain that no account has the key. */
  readonly discardKey?: () => Promise<void>;
}

/** The code of the error if the account may exist: its key must be kept. */
export const ACCOUNT_UNKNOWN = 'ACCOUNT_UNKNOWN';

/**
 * Creates an account with an admin key.
 *
 * @throws VedetteError for an invalid name, with `ifMissing` for a name that several accounts have, and with the
 *   code ACCOUNT_UNKNOWN if the connection was lost during the commit
 */
export async function addAccount(
  { store, clock, ids }: OperatorParts,
  name: string,
  {
    ifMissing = false,
    saveKey = async () => {},
    discardKey = async () => {},
  }: AddAccountOptions = {},
): Promise<AddedAccount> {
  if (name.trim() === '' || name.length > MAX_NAME_CHARS || unstorableTexts(name).length > 0) {
    throw refused(`the name of an account must have 1 to ${MAX_NAME_CHARS} characters of text`);
  }
  const { key, hash, shown: shownParts } = newKey('vk');
  const [accountId, id] = [ids(), ids()];
  const createdAtMs = clock.wallMs();
  let isSaved = false;
  let isWritten = false;
  const add = async (tx: Transaction): Promise<AddedAccount> => {
    isWritten = false;
    if (ifMissing) {
      // If the command runs twice at the same time, the second waits here and then finds the account.
      await lockFirstAccount(tx);
      const found = await findAccountsByName(tx, { name, limit: 1 });
      // Names are not unique: this also refuses a name of several accounts.
      if (found.length > 0)
        return { accountId: (await resolveAccountByName(tx, name)).id, key: null };
    }
    await saveKey(key);
    isSaved = true;
    await insertAccount(tx, { id: accountId, name, createdAtMs });
    const shown = { id, name: KEY_NAME, role: 'admin', ...shownParts } as const;
    await insertApiKey(tx, { ...shown, accountId, hash, createdAtMs });
    await insertEntry(tx, {
      accountId,
      atMs: createdAtMs,
      actor: OPERATOR,
      action: 'create',
      kind: 'api-key',
      resourceId: id,
      resourceName: KEY_NAME,
      ...changesBetween(null, shown),
    });
    isWritten = true;
    return { accountId, key };
  };
  let added: AddedAccount;
  try {
    added = await store.transaction(add);
  } catch (thrown) {
    if (isWritten && mayHaveCommitted(thrown)) throw unknownAccount(name, thrown);
    if (isSaved) await discardKey();
    throw thrown;
  }
  // When the transaction was repeated, another command had made the account.
  if (isSaved && added.key === null) await discardKey();
  return added;
}

function unknownAccount(name: string, cause: StoreError): VedetteError {
  const message = `it is unknown whether the account ${JSON.stringify(name)} was created: ${cause.message}`;
  return new VedetteError('environment', ACCOUNT_UNKNOWN, message, { cause });
}

/**
 * Invites a user to an account.
 *
 * @param account its id or name; null if there is only one
 * @returns the token of the link, which works once
 * @throws VedetteError where the account or the email cannot be used
 */
export async function inviteUser(
  parts: OperatorParts,
  given: { readonly email: string; readonly role: Role; readonly account: string | null },
): Promise<{ readonly token: string; readonly accountName: string; readonly expiresAt: Date }> {
  const { email, role } = given;
  if (!isEmail(email)) throw refused(`${JSON.stringify(email)} is not an email address`);
  const account = await accountOf(parts.store, given.account);
  const { auditLog, invitations } = userFeatures(parts);
  const show = async (id: string | number) => {
    const found = await invitations.list(account.id, WHOLE_LIST);
    return found.find((each) => each.id === id) ?? null;
  };
  const request = { accountId: account.id, actor: OPERATOR, kind: 'invitation', action: null };
  try {
    const { token, invitation } = await auditLog.recording(
      { ...request, id: null, idName: 'id', show },
      () => invitations.create(account.id, { email, role }),
    );
    return { token, accountName: account.name, expiresAt: invitation.expiresAt };
  } catch (thrown) {
    throw thrown instanceof ServiceError ? refused(thrown.message) : thrown;
  }
}

/**
 * Creates a link with which a user chooses a new password.
 *
 * @returns the token of the link, which works once
 * @throws VedetteError where no user has the email
 */
export async function resetPassword(
  parts: OperatorParts,
  email: string,
): Promise<{ readonly token: string; readonly expiresAt: Date }> {
  const link = isEmail(email) ? await userFeatures(parts).passwordLinks.create(email) : null;
  if (link !== null) return link;
  throw refused(
    `no user has the email ${JSON.stringify(email)}: invite one with vedette user add EMAIL`,
  );
}

async function accountOf(
  store: Store,
  idOrName: string | null,
): Promise<{ readonly id: string; readonly name: string }> {
  if (idOrName !== null) return await resolveAccount(store, idOrName);
  const count = await countAccounts(store, 2);
  if (count > 1) throw refused('there are several accounts: name one with --account ACCOUNT');
  const first = await findFirstAccount(store);
  if (first === null)
    throw refused('there is no account: create one with vedette account add NAME');
  return first;
}

function userFeatures({ clock, log, ids, ...parts }: OperatorParts) {
  const store = recordedStore(parts.store);
  const auditLog = createAuditLog({ store, clock, log, retentionDays: DEFAULT_AUDIT_DAYS });
  const { failedSignIns } = auditLog;
  const shared = { store, clock, log, ids, failedSignIns };
  return {
    auditLog,
    ...createUserFeatures({ ...shared, limits: undefined, passwords: undefined }),
  };
}

function isEmail(text: string): boolean {
  return emailSchema.safeParse(text).success && unstorableTexts(text).length === 0;
}

function refused(message: string): VedetteError {
  return new VedetteError('usage', 'REFUSED', message);
}
