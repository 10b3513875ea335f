import { batched } from '../../runtime/batched.ts';
import type { Clock } from '../../runtime/clock.ts';
import { newKey } from '../api-keys/keys.ts';
import type { Sql, Store } from '../database/port.ts';
import { conflict, notFound } from '../errors.ts';
import { type Page, rangeOf } from '../http/resources/paging.ts';
import {
  countActiveLocationKeys,
  findActiveLocationKeysByHash,
  insertLocationKey,
  type LocationKey,
  listLocationKeys,
  revokeLocationKey,
  touchLocationKey,
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
  /** Told this once: only its hash is kept. */
  readonly key: string;
}

/** Who polls: an agent, by the key of its location. */
export interface AgentCaller {
  readonly accountId: string;
  readonly locationId: string;
  readonly keyId: string;
}

/** The keys by which the agents of a private location are let in. */
export interface LocationKeys {
  /** @throws ServiceError 409 where two keys are active: one is in use, one is to follow it */
  create(accountId: string, locationId: string): Promise<NewLocationKey>;
  /** Oldest first, revoked ones too. */
  list(accountId: string, locationId: string, page: Page): Promise<readonly LocationKey[]>;
  /** For good. */
  revoke(accountId: string, locationId: string, id: string): Promise<void>;
  /**
   * @param hash SHA-256 of the whole key
   * @returns null where there is no such key or it is revoked
   */
  authenticate(hash: Uint8Array): Promise<AgentCaller | null>;
}

const MAX_ACTIVE = 2;
/** So often at most a key's last use is written. */
const USE_NOTED_EVERY_MS = 60_000;

export function createLocationKeys({ store, clock, ids }: LocationKeysParts): LocationKeys {
  // However many guess at once, one statement at a time answers them all.
  const findByHash = batched((_all, hashes: readonly Uint8Array[]) =>
    findActiveLocationKeysByHash(store, hashes),
  );
  return {
    create(accountId, locationId) {
      const { key, hash, prefix } = newKey('pl');
      const id = ids();
      return store.transaction(async (tx) => {
        // Two that are made at once would both see one active key.
        const location = await lockPrivateLocation(tx, { accountId, id: locationId });
        if (location === null) throw notFound('private location');
        const active = await countActiveLocationKeys(tx, { accountId, locationId });
        if (active >= MAX_ACTIVE) {
          throw conflict(
            `A private location has ${MAX_ACTIVE} active keys at most; revoke the one that is out of use first`,
            { limit: MAX_ACTIVE },
          );
        }
        const createdAtMs = clock.wallMs();
        await insertLocationKey(tx, { id, accountId, locationId, hash, prefix, createdAtMs });
        return {
          key,
          locationKey: {
            id,
            accountId,
            locationId,
            prefix,
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
      const found = await findByHash('', hash);
      if (found === null) return null;
      const usedAtMs = clock.wallMs();
      const notedMs = found.lastUsedAt?.getTime() ?? Number.NEGATIVE_INFINITY;
      if (usedAtMs - notedMs > USE_NOTED_EVERY_MS) {
        await touchLocationKey(store, { id: found.id, usedAtMs, staleMs: USE_NOTED_EVERY_MS });
      }
      return { accountId: found.accountId, locationId: found.locationId, keyId: found.id };
    },
  };
}

async function mustExist(sql: Sql, accountId: string, id: string): Promise<void> {
  const location = await findPrivateLocation(sql, { accountId, id });
  if (location === null) throw notFound('private location');
}
