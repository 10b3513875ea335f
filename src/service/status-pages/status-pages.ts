import { changedStatusPageSchema, statusPageSchema } from '../../model/status-page/status-page.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Allowance } from '../accounts/allowance.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Sql, Store } from '../database/store.ts';
import { StoreError } from '../database/store-errors.ts';
import { conflict, invalid, notFound } from '../errors.ts';
import type { Precondition } from '../http/resources/etag.ts';
import { givenFields, type RawBody } from '../http/resources/given-fields.ts';
import { validBody } from '../http/resources/input-problems.ts';
import { inSlices, type Page, rangeOf } from '../http/resources/paging.ts';
import type { Warning } from '../http/resources/warnings.ts';
import type { Passwords } from '../users/password-hashing.ts';
import { replaceCards } from './cards.sql.ts';
import { type CardInput, planCards } from './cards.ts';
import { PICTURE_KINDS, type PictureKind } from './pictures/picture.ts';
import { pictureWarnings } from './pictures/picture-warnings.ts';
import type { PagePictures } from './pictures/pictures.ts';
import { requireServices } from './require-services.ts';
import type { DomainRules } from './site/domain-rules.ts';
import {
  deletePage,
  findPage,
  findPages,
  insertPage,
  listPageEntries,
  lockPage,
  type PageFields,
  type StoredCard,
  type StoredPage,
  setPagePassword,
  updatePage,
} from './sql.ts';

export type { StoredPage } from './sql.ts';

export interface StatusPagesParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly allowance: Allowance;
  readonly pagePictures: Pick<PagePictures, 'fetch' | 'fetchAgain'>;
  readonly passwords: Pick<Passwords, 'hash'>;
  readonly domainRules: Pick<DomainRules, 'refuse'>;
}

/** A page as requests for a single page return it. */
export type PageView = StoredPage & { readonly warnings?: readonly Warning[] };

/** src/service/README.md, "Status pages and incidents". */
export interface StatusPages {
  /** @throws ServiceError 409 where another page has the url or the domain, or the service the domain */
  create(accountId: string, input: RawBody): Promise<PageView>;
  read(key: AccountKey): Promise<PageView>;
  /** Oldest first, in slices. */
  list(accountId: string, page: Page): AsyncGenerator<readonly StoredPage[]>;
  /**
   * Each given field replaces the stored one as a whole. Cards keep their ids.
   *
   * @throws ServiceError 409 where another page has the url or the domain, or the service the domain
   */
  update(
    key: AccountKey,
    input: RawBody,
    precondition?: Precondition<StoredPage>,
  ): Promise<PageView>;
  /** Fetches its pictures, even those whose URLs have not changed. */
  fetchPictures(key: AccountKey): Promise<PageView>;
  /** Removes its cards, too, but no services. */
  remove(key: AccountKey, precondition?: Precondition<StoredPage>): Promise<void>;
}

const NOUN = 'status page';
const RESPONSE_ONLY = ['hasPassword', 'warnings'];
const passwordBody = statusPageSchema.pick({ password: true });

export function createStatusPages(parts: StatusPagesParts): StatusPages {
  const { store, clock, ids, allowance, pagePictures, passwords, domainRules } = parts;

  async function saveCards(
    tx: Sql,
    accountId: string,
    {
      id,
      stored,
      given,
    }: {
      readonly id: string;
      readonly stored: readonly StoredCard[];
      readonly given: readonly CardInput[];
    },
  ): Promise<void> {
    const plan = planCards(stored, given, { ids, nowMs: clock.wallMs() });
    const named = given.map(({ services }, index) => ({
      path: ['cards', index, 'services'],
      ids: services,
    }));
    const problems = [...plan.problems, ...(await requireServices(tx, accountId, named))];
    if (problems.length > 0) throw invalid(problems);
    await replaceCards(tx, { accountId, id, cards: plan.cards });
  }

  /** Call it after the page is saved, so that no transaction waits for another host. */
  async function withPictures(
    accountId: string,
    saved: StoredPage,
    kinds: readonly PictureKind[],
  ): Promise<PageView> {
    const key = { accountId, id: saved.id };
    if (kinds.some((kind) => saved.fields[kind] !== null)) await pagePictures.fetch(key, kinds);
    // The page is saved, whatever happens to this read.
    const now = await findPage(store, key).catch(() => null);
    return withWarnings({ ...saved, pictures: now?.pictures ?? saved.pictures });
  }

  return {
    async create(accountId, input) {
      const { warnings: _, ...given } = input;
      const { cards, password = null, ...fields } = validBody(statusPageSchema, given);
      domainRules.refuse(fields.customDomain);
      const passwordHash = password === null ? null : await passwords.hash(password);
      const created = await withoutTaken(fields, () =>
        store.transaction(async (tx) => {
          await allowance.grow(tx, accountId, 'statusPages');
          const id = ids();
          const createdAtMs = clock.wallMs();
          await insertPage(tx, { accountId, id, fields, passwordHash, createdAtMs });
          await saveCards(tx, accountId, { id, stored: [], given: cards });
          return whole(await findPage(tx, { accountId, id }));
        }),
      );
      return await withPictures(accountId, created, PICTURE_KINDS);
    },

    async read(key) {
      return withWarnings(whole(await findPage(store, key)));
    },

    async *list(accountId, page) {
      const entries = await listPageEntries(store, { accountId, ...rangeOf(page) });
      yield* inSlices(entries, (ids) => findPages(store, { accountId, ids }));
    },

    async update({ accountId, id }, input, precondition) {
      const all = givenFields(input, { fixed: { id }, responseOnly: RESPONSE_ONLY });
      const { password: _, ...given } = all;
      const { password } = validBody(passwordBody, { password: all.password });
      const passwordHash = typeof password === 'string' ? await passwords.hash(password) : password;
      const updated = await withoutTaken(given, () =>
        store.transaction(async (tx) => {
          if (!(await lockPage(tx, { accountId, id }))) throw notFound(NOUN);
          const stored = whole(await findPage(tx, { accountId, id }));
          precondition?.(stored);
          const {
            cards,
            password: __,
            ...fields
          } = validBody(changedStatusPageSchema, {
            ...stored.fields,
            ...given,
          });
          if (given.customDomain !== undefined) domainRules.refuse(fields.customDomain);
          await updatePage(tx, { accountId, id, fields, updatedAtMs: clock.wallMs() });
          if (passwordHash !== undefined) {
            await setPagePassword(tx, { accountId, id, passwordHash });
          }
          if (given.cards !== undefined) {
            await saveCards(tx, accountId, { id, stored: stored.cards, given: cards });
          }
          return whole(await findPage(tx, { accountId, id }));
        }),
      );
      const kinds = PICTURE_KINDS.filter((kind) => given[kind] !== undefined);
      return await withPictures(accountId, updated, kinds);
    },

    async fetchPictures(key) {
      whole(await findPage(store, key));
      await pagePictures.fetchAgain(key, PICTURE_KINDS);
      return withWarnings(whole(await findPage(store, key)));
    },

    async remove(key, precondition) {
      await store.transaction(async (tx) => {
        if (!(await lockPage(tx, key))) throw notFound(NOUN);
        precondition?.(whole(await findPage(tx, key)));
        await deletePage(tx, key);
      });
    },
  };
}

function whole(found: StoredPage | null): StoredPage {
  if (found === null) throw notFound(NOUN);
  return found;
}

function withWarnings(page: StoredPage): PageView {
  return { ...page, warnings: pictureWarnings(page.fields, page.pictures) };
}

/** By the constraint that makes the field unique. */
const UNIQUE: Readonly<
  Record<string, { readonly field: keyof PageFields; readonly words: string }>
> = {
  status_pages_url: { field: 'url', words: 'url' },
  status_pages_custom_domain: { field: 'customDomain', words: 'custom domain' },
};

/** The error does not name the other page, which may belong to another account. */
async function withoutTaken<T>(fields: RawBody, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    const taken = thrown instanceof StoreError ? UNIQUE[thrown.constraint ?? ''] : undefined;
    if (taken === undefined) throw thrown;
    const { field, words } = taken;
    throw conflict(`There is a status page with the ${words} ${String(fields[field])} already`, {
      [field]: fields[field],
    });
  }
}
