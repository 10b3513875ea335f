import { MAX_LOCATIONS_PER_CHECK } from '../../model/account/plan.ts';
import { privateLocationSchema } from '../../model/account/private-location.ts';
import { withRetainedSecret } from '../../model/credentials/proxy-secret.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Allowance, unlimited } from '../accounts/allowance.ts';
import { notifyLocation } from '../agents/shared.sql.ts';
import { groupsNamingLocation } from '../check-groups/shared.sql.ts';
import { checksNamingLocation } from '../checks/shared.sql.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Store } from '../database/store.ts';
import { conflict, invalid, notFound } from '../errors.ts';
import type { Precondition } from '../http/resources/etag.ts';
import { givenFields, type RawBody } from '../http/resources/given-fields.ts';
import { bodyProblem, validBody } from '../http/resources/input-problems.ts';
import { type Page, rangeOf } from '../http/resources/paging.ts';
import { type LocationAvailability, listAvailability } from './live-agents.sql.ts';
import type { ProxyPasswords } from './proxy-passwords.ts';
import {
  bumpLocations,
  deletePrivateLocation,
  findPrivateLocation,
  insertPrivateLocation,
  listPrivateLocations,
  lockPrivateLocation,
  type PrivateLocation,
  updatePrivateLocation,
} from './sql.ts';
import { findLocationStatus, type LocationStatus, listLocationStatuses } from './statuses.sql.ts';

export type { LocationAvailability } from './live-agents.sql.ts';
export type { PrivateLocation } from './sql.ts';
export type { LocationStatus } from './statuses.sql.ts';

export interface PrivateLocationsParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly proxyPasswords: Pick<ProxyPasswords, 'seal'>;
  readonly allowance?: Allowance;
}

export interface PrivateLocations {
  create(accountId: string, input: RawBody): Promise<PrivateLocation>;
  read(key: AccountKey): Promise<PrivateLocation>;
  /** Oldest first. */
  list(accountId: string, page: Page): Promise<readonly PrivateLocation[]>;
  /** Which of the first 1,000 have a live agent. Oldest first. */
  availability(accountId: string): Promise<readonly LocationAvailability[]>;
  /** The state of the agents of each location. Oldest location first. */
  statuses(accountId: string, page: Page): Promise<readonly LocationStatus[]>;
  /** @throws ServiceError 404 */
  status(key: AccountKey): Promise<LocationStatus>;
  /**
   * Replaces the given fields. The slug does not change; a mask in `proxyUrl` keeps the stored password.
   */
  update(
    key: AccountKey,
    input: RawBody,
    precondition?: Precondition<PrivateLocation>,
  ): Promise<PrivateLocation>;
  /**
   * Deletes the location and its keys.
   *
   * @throws ServiceError 409 where a check or a group names the location
   */
  remove(key: AccountKey, precondition?: Precondition<PrivateLocation>): Promise<void>;
}

/** Ignored in an update. */
const RESPONSE_ONLY = ['silentSince', 'created_at', 'updated_at'];
/** Maximum number of checks, and of groups, that the refusal of a deletion names. */
const MAX_NAMED = 10;

export function createPrivateLocations({
  store,
  clock,
  ids,
  proxyPasswords,
  allowance = unlimited,
}: PrivateLocationsParts): PrivateLocations {
  return {
    async create(accountId, input) {
      const given = validBody(privateLocationSchema, {
        ...input,
        proxyUrl: keptProxy(input.proxyUrl, null),
      });
      const id = ids();
      const fields = { ...given, ...proxyPasswords.seal({ accountId, id }, given.proxyUrl, null) };
      const createdAtMs = clock.wallMs();
      return store.transaction(async (tx) => {
        await allowance.grow(tx, accountId, 'privateLocations');
        if (!(await insertPrivateLocation(tx, { ...fields, id, accountId, createdAtMs }))) {
          throw conflict(`There is a private location with the slug ${fields.slug} already`, {
            slug: fields.slug,
          });
        }
        return {
          ...fields,
          id,
          accountId,
          createdAt: new Date(createdAtMs),
          updatedAt: null,
          revision: 0,
          silentSince: null,
        };
      });
    },

    async read(key) {
      const found = await findPrivateLocation(store, key);
      if (found === null) throw notFound('private location');
      return found;
    },

    list(accountId, page) {
      return listPrivateLocations(store, { accountId, ...rangeOf(page) });
    },

    availability(accountId) {
      return listAvailability(store, { accountId, limit: MAX_LOCATIONS_PER_CHECK });
    },

    statuses(accountId, page) {
      return listLocationStatuses(store, { accountId, ...rangeOf(page) });
    },

    async status(key) {
      const found = await findLocationStatus(store, key);
      if (found === null) throw notFound('private location');
      return found;
    },

    update({ accountId, id }, input, precondition) {
      return store.transaction(async (tx) => {
        const stored = await lockPrivateLocation(tx, { accountId, id });
        if (stored === null) throw notFound('private location');
        precondition?.(stored);
        const { slug, name, icon, proxyUrl } = stored;
        const given = givenFields(input, { fixed: { id, slug }, responseOnly: RESPONSE_ONLY });
        const kept = given.proxyUrl === undefined ? proxyUrl : keptProxy(given.proxyUrl, proxyUrl);
        const whole = validBody(privateLocationSchema, {
          slug,
          name,
          icon,
          ...given,
          proxyUrl: kept,
        });
        const proxy = proxyPasswords.seal({ accountId, id }, whole.proxyUrl, stored);
        const fields = { ...whole, ...proxy };
        const updatedAtMs = clock.wallMs();
        const changed = { ...fields, accountId, id, updatedAtMs };
        const updatedAt = await updatePrivateLocation(tx, changed);
        // The agents get the proxy with their checks.
        await bumpLocations(tx, { accountId, slugs: [slug] });
        return { ...stored, ...fields, updatedAt };
      });
    },

    async remove({ accountId, id }, precondition) {
      await store.transaction(async (tx) => {
        const stored = await lockPrivateLocation(tx, { accountId, id });
        if (stored === null) throw notFound('private location');
        precondition?.(stored);
        const naming = { accountId, slug: stored.slug, limit: MAX_NAMED };
        const checks = await checksNamingLocation(tx, naming);
        const groups = await groupsNamingLocation(tx, naming);
        if (checks.length + groups.length > 0) {
          const users = [...checks, ...groups.map((group) => `group ${group}`)].join(', ');
          throw conflict(`The location is used by ${users}; remove it from them first`, {
            checks,
            groups,
          });
        }
        // Ends the held polls of its agents.
        await notifyLocation(tx, { locationId: id });
        await deletePrivateLocation(tx, { accountId, id });
      });
    },
  };
}

/** @throws ServiceError 400 if a mask stands for no stored password, or the URL has another target */
function keptProxy(given: unknown, before: string | null): unknown {
  const { proxyUrl, problem } = withRetainedSecret(given, before);
  if (problem !== null) throw invalid([bodyProblem(['proxyUrl'], problem)]);
  return proxyUrl;
}
