import type { Logger } from '../../runtime/logger.ts';
import type { SecretBox } from '../../runtime/secret-box.ts';
import { countText } from '../../runtime/text/count-text.ts';
import type { Store } from '../database/store.ts';
import { countSealed, SEALED_KINDS, type SealedKind } from './sealing.sql.ts';

/** Singular and plural. */
const KIND_NAMES: Readonly<Record<SealedKind, readonly [string, string]>> = {
  checks: ['check', 'checks'],
  locations: ['proxy', 'proxies'],
  variables: ['variable', 'variables'],
  certificates: ['client certificate', 'client certificates'],
  channels: ['alert channel', 'alert channels'],
  subscribers: ['subscriber', 'subscribers'],
};

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

/**
 * Logs one line about stored secrets that no key of this service decrypts: checks that use them fail, and messages
 * that need them are not sent.
 *
 * @returns how many checks and proxies have such secrets
 */
export async function reportUnreadable({
  store,
  secrets,
  log,
}: {
  readonly store: Store;
  readonly secrets: SecretBox | null;
  readonly log: Logger;
}): Promise<number> {
  const counts = new Map<SealedKind, number>();
  for (const { kind, keyName, count } of await countSealed(store)) {
    if (secrets?.keyNames.includes(keyName) === true) continue;
    counts.set(kind, (counts.get(kind) ?? 0) + count);
  }
  // The rewrite reports these two kinds itself; they must not be logged twice.
  const ofRewrite = (counts.get('checks') ?? 0) + (counts.get('locations') ?? 0);
  if (counts.size === 0) return ofRewrite;
  const found = SEALED_KINDS.flatMap((kind) => {
    const count = counts.get(kind);
    return count === undefined ? [] : [countText(count, ...KIND_NAMES[kind])];
  });
  log.error(
    Object.fromEntries(counts),
    `credentials and secret values of ${found.join(', ')} cannot be decrypted because ${missingKey(store, secrets)} and restart the service; or send them again`,
  );
  return ofRewrite;
}
