import type { Clock } from '../../runtime/clock.ts';
import { createKeyLookup, newKey } from '../api-keys/keys.ts';
import type { Sql, Store } from '../database/store.ts';
import { conflict, notFound } from '../errors.ts';
import { type Page, rangeOf } from '../http/resources/paging.ts';
import {
  countActiveLocationKeys,
  findActiveLocationKeysByHash,
  insertLocationKey,
  type LocationKey,
  listLocationKeys,
  revokeLocationKey,
} from './location-keys.sql.ts';
import { findPrivateLocation, lockPrivateLocation } from './sql.ts';

export type { LocationKey } from './location-keys.sql.ts';

export interface LocationKeysParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Makes a UUID. */
  readonly ids: () => string;
}

export interface NewLocationKey {
  readonly locationKey: LocationKey;
  /** Shown only once: only its hash is stored. */
  readonly key: string;
}

/** An agent, authenticated by a key of its location. */
export interface AgentCaller {
  readonly accountId: string;
  readonly locationId: string;
  readonly keyId: string;
}

/** The keys that authenticate the agents of a private location. */
export interface LocationKeys {
  /** @throws ServiceError 409 where two keys are active: the current one and its successor */
  create(accountId: string, locationId: string): Promise<NewLocationKey>;
  /** Oldest first, including revoked ones. */
  list(accountId: string, locationId: string, page: Page): Promise<readonly LocationKey[]>;
  /** Permanent. */
  revoke(accountId: string, locationId: string, id: string): Promise<void>;
  /**
   * @param hash SHA-256 of the whole key
   * @returns null for an unknown or a revoked key
   */
  authenticate(hash: Uint8Array): Promise<AgentCaller | null>;
}

const MAX_ACTIVE = 2;

export function createLocationKeys({ store, clock, ids }: LocationKeysParts): LocationKeys {
  const parts = { store, clock };
  const findByHash = createKeyLookup(parts, 'location_keys', findActiveLocationKeysByHash);
  return {
    create(accountId, locationId) {
      const { key, hash, shown } = newKey('pl');
      const id = ids();
      return store.transaction(async (tx) => {
        // The lock: two concurrent calls would both see one active key.
        const location = await lockPrivateLocation(tx, { accountId, id: locationId });
        if (location === null) throw notFound('private location');
        const active = await countActiveLocationKeys(tx, { accountId, locationId });
        if (active >= MAX_ACTIVE) {
          throw conflict(
            `A private location has at most ${MAX_ACTIVE} active keys; revoke the unused one first`,
            { limit: MAX_ACTIVE },
          );
        }
        const createdAtMs = clock.wallMs();
        await insertLocationKey(tx, { id, accountId, locationId, hash, ...shown, createdAtMs });
        return {
          key,
          locationKey: {
            id,
            accountId,
            locationId,
            ...shown,
            createdAt: new Date(createdAtMs),
            lastUsedAt: null,
            revokedAt: null,
          },
        };
      });
    },

    async list(accountId, locationId, page) {
      await mustExist(store, accountId, locationId);
      return listLocationKeys(store, { accountId, locationId, ...rangeOf(page) });
    },

    async revoke(accountId, locationId, id) {
      await mustExist(store, accountId, locationId);
      const revokedAtMs = clock.wallMs();
      if (!(await revokeLocationKey(store, { accountId, locationId, id, revokedAtMs }))) {
        throw notFound('location key');
      }
    },

    async authenticate(hash) {
      const found = await findByHash(hash);
      if (found === null) return null;
      return { accountId: found.accountId, locationId: found.locationId, keyId: found.id };
    },
  };
}

async function mustExist(sql: Sql, accountId: string, id: string): Promise<void> {
  const location = await findPrivateLocation(sql, { accountId, id });
  if (location === null) throw notFound('private location');
}
