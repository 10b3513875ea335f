import type { Logger } from '../../runtime/logger.ts';
import type { SecretBox } from '../../runtime/secret-box.ts';
import { countText } from '../../runtime/text/count-text.ts';
import type { Store } from '../database/store.ts';
import {
  countSealed,
  listSealedBy,
  type NamedKind,
  SEALED_KINDS,
  type SealedCount,
  type SealedKind,
  type SealedRow,
} from './sealing.sql.ts';

/** Singular and plural. */
const KIND_NAMES: Readonly<Record<SealedKind, readonly [string, string]>> = {
  checks: ['check', 'checks'],
  locations: ['proxy', 'proxies'],
  variables: ['variable', 'variables'],
  certificates: ['client certificate', 'client certificates'],
  channels: ['alert channel', 'alert channels'],
  subscribers: ['subscriber', 'subscribers'],
};

const NAMED_KINDS = SEALED_KINDS.filter((kind): kind is NamedKind => kind !== 'subscribers');
/** The service does not encrypt these with a new key by itself: their owners have to write them again. */
const WRITTEN_BY_USERS: readonly NamedKind[] = ['variables', 'certificates', 'channels'];
/** The most rows that a line of the log names. */
const MAX_NAMED = 50;

/** Why a secret cannot be decrypted, and what to do. */
export function missingKey({ kind }: Pick<Store, 'kind'>, secrets: SecretBox | null): string {
  if (secrets === null) {
    return kind === 'pglite'
      ? 'DATA_DIR/encryption-key is missing: put the file back, or set ENCRYPTION_KEY to the key that encrypted them'
      : 'ENCRYPTION_KEY is not set: set it to the key that encrypted them';
  }
  const where = kind === 'pglite' ? ', or its file back into DATA_DIR/encryption-key,' : '';
  return `none of the keys decrypts them: put the key that encrypted them after the other keys in ENCRYPTION_KEY${where}`;
}

interface StoredSecrets {
  readonly store: Store;
  readonly secrets: SecretBox | null;
  readonly log: Logger;
}

/**
 * Logs one line about stored secrets that no key of this service decrypts: checks that use them fail, and messages
 * that need them are not sent. Logs another line about secrets that only an older key decrypts, and that users have
 * to write again before that key is removed.
 *
 * @returns how many checks and proxies have secrets that no key decrypts
 */
export async function reportKeysOfSecrets({ store, secrets, log }: StoredSecrets): Promise<number> {
  const keyNames = secrets?.keyNames ?? [];
  const counts = await countSealed(store);
  const unreadable = counts.filter(({ keyName }) => !keyNames.includes(keyName));
  if (unreadable.length > 0) {
    log.error(
      await fieldsOf(store, NAMED_KINDS, unreadable),
      `credentials and secret values of ${countsText(unreadable)} cannot be decrypted because ${missingKey(store, secrets)} and restart the service; or send them again`,
    );
  }
  const outdated = counts.filter(
    ({ kind, keyName }) =>
      keyNames.indexOf(keyName) > 0 && WRITTEN_BY_USERS.some((each) => each === kind),
  );
  if (outdated.length > 0) {
    log.warn(
      await fieldsOf(store, WRITTEN_BY_USERS, outdated),
      `secret values of ${countsText(outdated)} are not encrypted with the first key of ENCRYPTION_KEY: write them again before you remove the key that encrypted them`,
    );
  }
  // The rewrite reports these two kinds itself; they must not be logged twice.
  const totals = totalsOf(unreadable);
  return (totals.get('checks') ?? 0) + (totals.get('locations') ?? 0);
}

/** The number of rows of each kind, and the names of the first ones. */
async function fieldsOf(
  store: Store,
  kinds: readonly NamedKind[],
  counts: readonly SealedCount[],
): Promise<Readonly<Record<string, unknown>>> {
  const keyNames = [...new Set(counts.map(({ keyName }) => keyName))];
  const rows = await listSealedBy(store, { kinds, keyNames, limit: MAX_NAMED });
  return { ...Object.fromEntries(totalsOf(counts)), names: rows.map(shownName) };
}

/** The number of rows of each kind, in the order of SEALED_KINDS. */
function totalsOf(counts: readonly SealedCount[]): ReadonlyMap<SealedKind, number> {
  const totals = SEALED_KINDS.map((kind): [SealedKind, number] => {
    const ofKind = counts.filter((each) => each.kind === kind);
    return [kind, ofKind.reduce((sum, { count }) => sum + count, 0)];
  });
  return new Map(totals.filter(([, count]) => count > 0));
}

/** For example `2 variables, 1 alert channel`. */
function countsText(counts: readonly SealedCount[]): string {
  const totals = [...totalsOf(counts)];
  return totals.map(([kind, count]) => countText(count, ...KIND_NAMES[kind])).join(', ');
}

/** For example `variable SHOP_TOKEN of account 1f2e`. */
function shownName({ kind, accountId, name }: SealedRow): string {
  const noun = kind === 'locations' ? 'private location' : KIND_NAMES[kind][0];
  return `${noun} ${name} of account ${accountId}`;
}
