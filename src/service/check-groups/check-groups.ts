import { checkGroupSchema } from '../../model/check/check-group.ts';
import { SCRIPT_FIELD_NAMES } from '../../model/check/scripts.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Allowance, unlimited } from '../accounts/allowance.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Sql, Store } from '../database/store.ts';
import { invalid, notFound } from '../errors.ts';
import type { Precondition } from '../http/resources/etag.ts';
import { givenFields, type RawBody } from '../http/resources/given-fields.ts';
import { validBody } from '../http/resources/input-problems.ts';
import { type Page, rangeOf } from '../http/resources/paging.ts';
import type { Warning } from '../http/resources/warnings.ts';
import {
  privateLocationWarnings,
  publicLocationWarnings,
} from '../private-locations/location-warnings.ts';
import { countLocationChange } from '../private-locations/require-locations.ts';
import { requireSnippets } from '../snippets/require-snippets.ts';
import {
  deleteGroup,
  findGroup,
  insertGroup,
  listGroups,
  locationsOfGroupChecks,
  lockChecksOfGroup,
  lockGroup,
  type StoredGroup,
  updateGroup,
} from './sql.ts';

/** A group as requests for a single group return it. */
export interface GroupView extends StoredGroup {
  /** Left out in lists. */
  readonly warnings?: readonly Warning[];
}

export interface CheckGroupsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly allowance?: Allowance;
}

export interface CheckGroups {
  create(accountId: string, input: RawBody): Promise<GroupView>;
  read(key: AccountKey<number>): Promise<GroupView>;
  /** Oldest first. */
  list(accountId: string, page: Page): Promise<readonly GroupView[]>;
  /** Replaces the given fields, each as a whole. */
  update(
    key: AccountKey<number>,
    input: RawBody,
    precondition?: Precondition<GroupView>,
  ): Promise<GroupView>;
  /** The group's checks stay, without a group. */
  remove(key: AccountKey<number>, precondition?: Precondition<GroupView>): Promise<void>;
}

/** Ignored in an update. */
const RESPONSE_ONLY = ['created_at', 'updated_at', 'warnings'];

export function createCheckGroups({
  store,
  clock,
  allowance = unlimited,
}: CheckGroupsParts): CheckGroups {
  return {
    async create(accountId, input) {
      const { warnings: _, ...given } = input;
      const fields = validBody(checkGroupSchema, given);
      allowance.admitLocations(accountId, fields, null);
      return store.transaction(async (tx) => {
        await allowance.grow(tx, accountId, 'checkGroups');
        const missing = await requireSnippets(tx, accountId, fields, null);
        if (missing.length > 0) throw invalid(missing);
        await change(tx, { accountId, named: fields.privateLocations ?? [], affected: [] });
        const created = await insertGroup(tx, { accountId, fields, createdAtMs: clock.wallMs() });
        return withWarnings(tx, accountId, created);
      });
    },

    async read(key) {
      const found = await findGroup(store, key);
      if (found === null) throw notFound('check group');
      return withWarnings(store, key.accountId, found);
    },

    list(accountId, page) {
      return listGroups(store, { accountId, ...rangeOf(page) });
    },

    update({ accountId, id }, input, precondition) {
      return store.transaction(async (tx) => {
        // Changing the scripts changes the checks, too (see `lockChecksOfGroup`).
        if (SCRIPT_FIELD_NAMES.some((name) => name in input)) {
          await lockChecksOfGroup(tx, { accountId, id });
        }
        const stored = await lockGroup(tx, { accountId, id });
        if (stored === null) throw notFound('check group');
        precondition?.(stored);
        const given = givenFields(input, { fixed: { id }, responseOnly: RESPONSE_ONLY });
        const fields = validBody(checkGroupSchema, { ...stored.fields, ...given });
        allowance.admitLocations(accountId, fields, stored.fields);
        const missing = await requireSnippets(tx, accountId, fields, stored.fields);
        if (missing.length > 0) throw invalid(missing);
        await change(tx, {
          accountId,
          named: fields.privateLocations ?? [],
          affected: await locationsOf(tx, accountId, stored),
        });
        const updated = await updateGroup(tx, {
          accountId,
          id,
          fields,
          updatedAtMs: clock.wallMs(),
        });
        if (updated === null) throw notFound('check group');
        return withWarnings(tx, accountId, updated);
      });
    },

    async remove({ accountId, id }, precondition) {
      await store.transaction(async (tx) => {
        await lockChecksOfGroup(tx, { accountId, id });
        const stored = await lockGroup(tx, { accountId, id });
        if (stored === null) throw notFound('check group');
        precondition?.(stored);
        const affected = await locationsOf(tx, accountId, stored);
        await change(tx, { accountId, named: [], affected });
        await deleteGroup(tx, { accountId, id, deletedAtMs: clock.wallMs() });
      });
    },
  };
}

async function withWarnings(sql: Sql, accountId: string, group: StoredGroup): Promise<GroupView> {
  const { locations, privateLocations: slugs } = group.fields;
  const warnings = [
    ...publicLocationWarnings(locations),
    ...(await privateLocationWarnings(sql, { accountId, slugs })),
  ];
  return { ...group, warnings };
}

/** All locations where a check of the group may run: a change of the group may change it there. */
async function locationsOf(
  tx: Sql,
  accountId: string,
  { id, fields }: StoredGroup,
): Promise<readonly string[]> {
  const ofChecks = await locationsOfGroupChecks(tx, { accountId, id });
  return [...(fields.privateLocations ?? []), ...ofChecks];
}

async function change(tx: Sql, parts: Parameters<typeof countLocationChange>[1]): Promise<void> {
  const problems = await countLocationChange(tx, parts);
  if (problems.length > 0) throw invalid(problems);
}
