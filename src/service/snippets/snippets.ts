import { snippetSchema } from '../../model/account/snippet.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Allowance, requireCapacity } from '../accounts/allowance.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Store } from '../database/store.ts';
import { StoreError } from '../database/store-errors.ts';
import { conflict, notFound } from '../errors.ts';
import type { Precondition } from '../http/resources/etag.ts';
import { givenFields, type RawBody } from '../http/resources/given-fields.ts';
import { validBody } from '../http/resources/input-problems.ts';
import { inSlices, type Page, rangeOf } from '../http/resources/paging.ts';
import {
  deleteSnippet,
  findSnippet,
  findSnippets,
  insertSnippet,
  listSnippetEntries,
  lockSnippet,
  type StoredSnippet,
  updateSnippet,
} from './sql.ts';

export type { StoredSnippet } from './sql.ts';

export interface SnippetsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly allowance: Allowance;
}

export interface Snippets {
  create(accountId: string, input: RawBody): Promise<StoredSnippet>;
  read(key: AccountKey<number>): Promise<StoredSnippet>;
  /** Oldest first, a few at a time. */
  list(accountId: string, page: Page): AsyncIterable<readonly StoredSnippet[]>;
  /** Replaces the given fields. */
  update(
    key: AccountKey<number>,
    input: RawBody,
    precondition?: Precondition<StoredSnippet>,
  ): Promise<StoredSnippet>;
  remove(key: AccountKey<number>, precondition?: Precondition<StoredSnippet>): Promise<void>;
}

const CAPACITY = { resource: 'snippets', limit: 1_000, name: 'snippets' } as const;
const RESPONSE_ONLY = ['created_at', 'updated_at'];

export function createSnippets({ store, clock, allowance }: SnippetsParts): Snippets {
  return {
    async create(accountId, input) {
      const fields = validBody(snippetSchema, input);
      return store.transaction(async (tx) => {
        await allowance.grow(tx, accountId, 'snippets');
        await requireCapacity(tx, accountId, CAPACITY);
        const created = await insertSnippet(tx, { accountId, fields, atMs: clock.wallMs() });
        if (created === null) throw nameTaken(fields.name);
        return created;
      });
    },

    async read(key) {
      const found = await findSnippet(store, key);
      if (found === null) throw notFound('snippet');
      return found;
    },

    async *list(accountId, page) {
      const entries = await listSnippetEntries(store, { accountId, ...rangeOf(page) });
      yield* inSlices(entries, (ids) => findSnippets(store, { accountId, ids }));
    },

    update({ accountId, id }, input, precondition) {
      return store.transaction(async (tx) => {
        const stored = await lockSnippet(tx, { accountId, id });
        if (stored === null) throw notFound('snippet');
        precondition?.(stored);
        const given = givenFields(input, { fixed: { id }, responseOnly: RESPONSE_ONLY });
        const fields = validBody(snippetSchema, { ...stored.fields, ...given });
        const changed = { accountId, id, fields, atMs: clock.wallMs() };
        const updated = await updateSnippet(tx, changed).catch((thrown: unknown) => {
          const isTaken = thrown instanceof StoreError && thrown.code === 'STORE_UNIQUE';
          throw isTaken ? nameTaken(fields.name) : thrown;
        });
        if (updated === null) throw notFound('snippet');
        return updated;
      });
    },

    async remove(key, precondition) {
      await store.transaction(async (tx) => {
        const stored = await lockSnippet(tx, key);
        if (stored === null) throw notFound('snippet');
        precondition?.(stored);
        await deleteSnippet(tx, key);
      });
    },
  };
}

function nameTaken(name: string) {
  return conflict('There is a snippet of that name already', { name });
}
