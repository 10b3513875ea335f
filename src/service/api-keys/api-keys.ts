import type { Role } from '../../model/enums.ts';
import type { Clock } from '../../runtime/clock.ts';
import { lockAccount } from '../accounts/shared.sql.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Store } from '../database/store.ts';
import { conflict, invalid, notFound } from '../errors.ts';
import type { Authenticator } from '../http/access/caller.ts';
import { unstorableTexts } from '../http/resources/input-problems.ts';
import { type Page, rangeOf } from '../http/resources/paging.ts';
import { deleteAdminInvitations, hasOtherAdminUser } from '../users/shared.sql.ts';
import { createKeyLookup, newKey } from './keys.ts';
import {
  type ApiKey,
  findActiveApiKeysByHash,
  findApiKey,
  hasOtherAdminKey,
  insertApiKey,
  listApiKeys,
  revokeApiKey,
} from './sql.ts';

export type { ApiKey } from './sql.ts';

export interface ApiKeysParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Makes a UUID. */
  readonly ids: () => string;
}

export interface NewApiKey {
  readonly apiKey: ApiKey;
  /** Shown only once: only its hash is stored. */
  readonly key: string;
}

export interface ApiKeys extends Authenticator {
  create(accountId: string, fields: { name: string; role: Role }): Promise<NewApiKey>;
  read(key: AccountKey): Promise<ApiKey>;
  /** Oldest first, revoked ones too. */
  list(accountId: string, page: Page): Promise<readonly ApiKey[]>;
  /** Permanent. The last admin key of an account without an admin user stays: without it no other could be created. */
  revoke(key: AccountKey): Promise<void>;
}

export function createApiKeys({ store, clock, ids }: ApiKeysParts): ApiKeys {
  const findByHash = createKeyLookup({ store, clock }, 'api_keys', findActiveApiKeysByHash);
  return {
    async create(accountId, { name, role }) {
      const problems = unstorableTexts(name, ['name']);
      if (problems.length > 0) throw invalid(problems);
      const { key, hash, shown } = newKey('vk');
      const id = ids();
      const createdAtMs = clock.wallMs();
      const created = { id, accountId, name, role, ...shown };
      return store.transaction(async (tx) => {
        await insertApiKey(tx, { ...created, hash, createdAtMs });
        const times = { createdAt: new Date(createdAtMs), lastUsedAt: null, revokedAt: null };
        return { key, apiKey: { ...created, ...times } };
      });
    },

    async read(key) {
      const found = await findApiKey(store, key);
      if (found === null) throw notFound('API key');
      return found;
    },

    list(accountId, page) {
      return listApiKeys(store, { accountId, ...rangeOf(page) });
    },

    async revoke({ accountId, id }) {
      await store.transaction(async (tx) => {
        // Without the lock, two admins could revoke each other's key at the same time.
        await lockAccount(tx, accountId);
        const found = await findApiKey(tx, { accountId, id });
        if (found === null) throw notFound('API key');
        if (
          found.role === 'admin' &&
          found.revokedAt === null &&
          !(await hasOtherAdminKey(tx, { accountId, id })) &&
          !(await hasOtherAdminUser(tx, { accountId, userId: null }))
        ) {
          throw conflict(
            'This is the last admin key of the account, which has no user who is an admin: create another admin key first',
          );
        }
        await revokeApiKey(tx, { accountId, id, revokedAtMs: clock.wallMs() });
        // A person who had the key may have created an invitation in order to return as an admin.
        if (found.role === 'admin' && found.revokedAt === null) {
          await deleteAdminInvitations(tx, accountId);
        }
      });
    },

    async authenticate(hash) {
      const found = await findByHash(hash);
      return (
        found && {
          accountId: found.accountId,
          role: found.role,
          by: { kind: 'key', id: found.id },
        }
      );
    },
  };
}
