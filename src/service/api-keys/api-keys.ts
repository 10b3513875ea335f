import { batched } from '../../runtime/batched.ts';
import type { Clock } from '../../runtime/clock.ts';
import { lockAccount } from '../accounts/exports.ts';
import type { Store } from '../database/port.ts';
import { conflict, invalid, notFound } from '../errors.ts';
import type { Authenticator, Role } from '../http/access/authenticator.ts';
import { unstorableTexts } from '../http/resources/input-problems.ts';
import { type Page, rangeOf } from '../http/resources/paging.ts';
import { newKey } from './keys.ts';
import {
  type ApiKey,
  findActiveApiKeysByHash,
  findApiKey,
  hasOtherAdminKey,
  insertApiKey,
  listApiKeys,
  revokeApiKey,
  touchApiKey,
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
  read(accountId: string, id: string): Promise<ApiKey>;
  /** Oldest first, revoked ones too. */
  list(accountId: string, page: Page): Promise<readonly ApiKey[]>;
  /** Permanent. The last admin key of an account stays: without it no other could be created. */
  revoke(accountId: string, id: string): Promise<void>;
}

/** So often at most a key's last use is written. */
const USE_NOTED_EVERY_MS = 60_000;

export function createApiKeys({ store, clock, ids }: ApiKeysParts): ApiKeys {
  // However many guess at once, one statement at a time answers them all.
  const findByHash = batched((_all, hashes: readonly Uint8Array[]) =>
    findActiveApiKeysByHash(store, hashes),
  );
  return {
    async create(accountId, { name, role }) {
      const problems = unstorableTexts(name, ['name']);
      if (problems.length > 0) throw invalid(problems);
      const { key, hash, prefix } = newKey('vk');
      const id = ids();
      const createdAtMs = clock.wallMs();
      await insertApiKey(store, { id, accountId, name, role, hash, prefix, createdAtMs });
      return {
        key,
        apiKey: {
          id,
          accountId,
          name,
          role,
          prefix,
          createdAt: new Date(createdAtMs),
          lastUsedAt: null,
          revokedAt: null,
        },
      };
    },

    async read(accountId, id) {
      const found = await findApiKey(store, { accountId, id });
      if (found === null) throw notFound('API key');
      return found;
    },

    list(accountId, page) {
      return listApiKeys(store, { accountId, ...rangeOf(page) });
    },

    async revoke(accountId, id) {
      await store.transaction(async (tx) => {
        // Two admins who revoke each other's key at once would both be the last one.
        await lockAccount(tx, accountId);
        const found = await findApiKey(tx, { accountId, id });
        if (found === null) throw notFound('API key');
        if (
          found.role === 'admin' &&
          found.revokedAt === null &&
          !(await hasOtherAdminKey(tx, { accountId, id }))
        ) {
          throw conflict(
            'This is the last admin key of the account, without which nobody could make another; make one first',
          );
        }
        await revokeApiKey(tx, { accountId, id, revokedAtMs: clock.wallMs() });
      });
    },

    async authenticate(hash) {
      const found = await findByHash('', hash);
      if (found === null) return null;
      const usedAtMs = clock.wallMs();
      const notedMs = found.lastUsedAt?.getTime() ?? Number.NEGATIVE_INFINITY;
      if (usedAtMs - notedMs > USE_NOTED_EVERY_MS) {
        await touchApiKey(store, { id: found.id, usedAtMs, staleMs: USE_NOTED_EVERY_MS });
      }
      return { accountId: found.accountId, keyId: found.id, role: found.role };
    },
  };
}
