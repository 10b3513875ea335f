import { snippetSchema } from '../../model/account/snippet.ts';
import { MAX_SCRIPT_CHARS } from '../../model/check/scripts.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Allowance, requireCapacity } from '../accounts/allowance.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Store } from '../database/store.ts';
import { StoreError } from '../database/store-errors.ts';
import { conflict, invalid, notFound } from '../errors.ts';
import type { Precondition } from '../http/resources/etag.ts';
import { givenFields, type RawBody } from '../http/resources/given-fields.ts';
import { bodyProblem, validBody } from '../http/resources/input-problems.ts';
import { inSlices, type Page, rangeOf } from '../http/resources/paging.ts';
import {
  deleteSnippet,
  findSnippet,
  findSnippets,
  findSnippetUses,
  insertSnippet,
  listSnippetEntries,
  lockChecksOfSnippet,
  lockSnippet,
  type SnippetUse,
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
  /** @throws ServiceError 409 where a check or a group runs the snippet */
  remove(key: AccountKey<number>, precondition?: Precondition<StoredSnippet>): Promise<void>;
}

const CAPACITY = { resource: 'snippets', limit: 1_000, name: 'snippets' } as const;
/** Checks and groups in one message. */
const MAX_NAMED = 5;
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
        // A change of the script is a change of those checks, too.
        if ('script' in input) await lockChecksOfSnippet(tx, { accountId, id });
        const stored = await lockSnippet(tx, { accountId, id });
        if (stored === null) throw notFound('snippet');
        precondition?.(stored);
        const given = givenFields(input, { fixed: { id }, responseOnly: RESPONSE_ONLY });
        const fields = validBody(snippetSchema, { ...stored.fields, ...given });
        if (fields.script.length > MAX_SCRIPT_CHARS) {
          const uses = await findSnippetUses(tx, { accountId, id, limit: MAX_NAMED });
          if (uses.length > 0) {
            const message = `must have at most ${MAX_SCRIPT_CHARS} characters: the snippet runs in ${usesText(uses)}`;
            throw invalid([bodyProblem(['script'], message)]);
          }
        }
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
        const uses = await findSnippetUses(tx, { ...key, limit: MAX_NAMED });
        if (uses.length > 0) {
          const message = `The snippet runs in ${usesText(uses)}: remove it there first`;
          throw conflict(message, { uses });
        }
        await deleteSnippet(tx, key);
      });
    },
  };
}

function usesText(uses: readonly SnippetUse[]): string {
  const shown = uses.map(({ kind, name }) => `the ${kind} ${JSON.stringify(name)}`).join(', ');
  return uses.length < MAX_NAMED ? shown : `${shown} and perhaps others`;
}

function nameTaken(name: string) {
  return conflict('There is a snippet of that name already', { name });
}
