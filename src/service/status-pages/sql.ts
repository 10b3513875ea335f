import type { StatusPageFields } from '../../model/status-page/status-page.ts';
import type { AccountKey } from '../database/account-key.ts';
import { readList } from '../database/lists/lists.ts';
import type { AccountRange, PageEntry } from '../database/lists/page-entries.ts';
import type { Sql } from '../database/store.ts';
import { jsonText } from '../database/values.ts';
import type { PictureStates } from './pictures/picture-warnings.ts';
import { PICTURE_STATES } from './pictures/pictures.sql.ts';
import type { CardService } from './services.sql.ts';

export interface StoredCard extends Times {
  readonly id: string;
  readonly name: string;
  readonly services: readonly CardService[];
}

export type PageFields = StatusPageFields;

export interface StoredPage {
  readonly id: string;
  readonly fields: PageFields;
  readonly hasPassword: boolean;
  readonly cards: readonly StoredCard[];
  readonly pictures: PictureStates;
}

interface Times {
  readonly createdAt: Date;
  /** null until it was first updated. */
  readonly updatedAt: Date | null;
}

/** In JSON, the times are texts. */
interface JsonTimes {
  readonly createdAt: string;
  readonly updatedAt: string | null;
}

type ServiceJson = Omit<CardService, keyof Times> & JsonTimes;
type CardJson = Omit<StoredCard, keyof Times | 'services'> &
  JsonTimes & { readonly services: readonly ServiceJson[] };

type PageRow = PageFields & {
  readonly id: string;
  readonly hasPassword: boolean;
  readonly cards: readonly CardJson[];
  readonly pictures: PictureStates;
};

/**
 * Selects pages with their cards and the states of their pictures in one statement, so that all are consistent.
 *
 * @param from the table, or a query that selects the rows
 */
function pageFrom(from: string): string {
  return `select p.id, p.name, p.url, p.custom_domain, p.description, p.theme_colors, p.logo,
    p.favicon, p.redirect_to, p.default_theme, p.white_label, p.is_private, p.logical_id,
    p.password_hash is not null as has_password, coalesce((
      select jsonb_agg(
        jsonb_build_object('id', c.id, 'name', c.name, 'createdAt', c.created_at,
          'updatedAt', c.updated_at, 'services', coalesce((
            select jsonb_agg(
              jsonb_build_object('id', s.id, 'accountId', s.account_id, 'name', s.name,
                'createdAt', s.created_at, 'updatedAt', s.updated_at)
              order by l.position)
            from status_page_card_services l
            join status_page_services s on s.account_id = l.account_id and s.id = l.service_id
            where l.account_id = c.account_id and l.card_id = c.id), '[]'))
        order by c.position)
      from status_page_cards c
      where c.account_id = p.account_id and c.status_page_id = p.id), '[]') as cards,
    ${PICTURE_STATES} as pictures
  from ${from} p`;
}

function pageOf({ id, hasPassword, cards, pictures, ...fields }: PageRow): StoredPage {
  return {
    id,
    fields,
    hasPassword,
    cards: cards.map((card) => ({ ...withDates(card), services: card.services.map(withDates) })),
    pictures,
  };
}

function withDates<Json extends JsonTimes>(json: Json): Omit<Json, keyof Times> & Times {
  const { createdAt, updatedAt, ...rest } = json;
  return {
    ...rest,
    createdAt: new Date(createdAt),
    updatedAt: updatedAt === null ? null : new Date(updatedAt),
  };
}

function valuesOf(fields: PageFields): readonly unknown[] {
  return [
    fields.name,
    fields.url,
    fields.customDomain,
    fields.description,
    jsonText(fields.themeColors),
    fields.logo,
    fields.favicon,
    fields.redirectTo,
    fields.defaultTheme,
    fields.whiteLabel,
    fields.isPrivate,
    fields.logicalId,
  ];
}

/** @throws StoreError naming status_pages_url or status_pages_custom_domain where one is taken */
export async function insertPage(
  sql: Sql,
  {
    accountId,
    id,
    fields,
    passwordHash,
    createdAtMs,
  }: AccountKey & {
    readonly fields: PageFields;
    /** null without a password. */
    readonly passwordHash: string | null;
    readonly createdAtMs: number;
  },
): Promise<void> {
  await sql.query(
    `insert into status_pages (name, url, custom_domain, description, theme_colors, logo, favicon,
       redirect_to, default_theme, white_label, is_private, logical_id, account_id, id, created_at,
       password_hash)
     values ($1, $2, $3, $4, $5::jsonb, $6, $7, $8, $9, $10::boolean, $11::boolean, $12, $13, $14,
       $15::timestamptz, $16)`,
    [...valuesOf(fields), accountId, id, new Date(createdAtMs), passwordHash],
  );
}

/**
 * Only for a page that `lockPage` locks.
 *
 * @throws StoreError naming status_pages_url or status_pages_custom_domain where one is taken
 */
export async function updatePage(
  sql: Sql,
  {
    accountId,
    id,
    fields,
    updatedAtMs,
  }: AccountKey & { readonly fields: PageFields; readonly updatedAtMs: number },
): Promise<void> {
  await sql.query(
    `update status_pages set name = $1, url = $2, custom_domain = $3, description = $4,
       theme_colors = $5::jsonb, logo = $6, favicon = $7, redirect_to = $8, default_theme = $9,
       white_label = $10::boolean, is_private = $11::boolean, logical_id = $12,
       updated_at = $15::timestamptz
     where account_id = $13 and id = $14`,
    [...valuesOf(fields), accountId, id, new Date(updatedAtMs)],
  );
}

export async function findPage(
  sql: Sql,
  { accountId, id }: AccountKey,
): Promise<StoredPage | null> {
  const rows = await sql.query<PageRow>(
    `${pageFrom('status_pages')} where p.account_id = $1 and p.id = $2`,
    [accountId, id],
  );
  return rows[0] === undefined ? null : pageOf(rows[0]);
}

/** Only for a page that `lockPage` locks. */
export async function setPagePassword(
  sql: Sql,
  { accountId, id, passwordHash }: AccountKey & { readonly passwordHash: string | null },
): Promise<void> {
  await sql.query('update status_pages set password_hash = $3 where account_id = $1 and id = $2', [
    accountId,
    id,
    passwordHash,
  ]);
}

/**
 * Locks the page and its cards until the transaction ends. Read them after the lock.
 *
 * @returns false if there is no such page
 */
export async function lockPage(sql: Sql, { accountId, id }: AccountKey): Promise<boolean> {
  const rows = await sql.query(
    'select id from status_pages where account_id = $1 and id = $2 for update',
    [accountId, id],
  );
  return rows.length > 0;
}

/** The approximate sizes of a page without services, and of a service on it with a name of usual length. */
const [PAGE_BYTES, SERVICE_BYTES] = [16_384, 1_024];

/** The ids of a page of status pages, oldest first. */
export async function listPageEntries(
  sql: Sql,
  { accountId, ...range }: AccountRange,
): Promise<readonly PageEntry<string>[]> {
  const list = {
    columns: `id, ${PAGE_BYTES} + ${SERVICE_BYTES} * (
       select count(*) from status_page_cards c join status_page_card_services l
         on l.account_id = c.account_id and l.card_id = c.id
       where c.account_id = p.account_id and c.status_page_id = p.id) as bytes`,
    from: 'status_pages p',
    where: 'account_id = $1',
    params: [accountId],
    order: 'n',
  };
  return readList<PageEntry<string>>(sql, list, range);
}

/** The pages among these that still exist, in the order of the ids. */
export async function findPages(
  sql: Sql,
  { accountId, ids }: { readonly accountId: string; readonly ids: readonly string[] },
): Promise<readonly StoredPage[]> {
  const rows = await sql.query<PageRow>(
    `${pageFrom('status_pages')} where p.account_id = $1 and p.id = any($2::text[])
     order by array_position($2::text[], p.id)`,
    [accountId, ids],
  );
  return rows.map(pageOf);
}

/** @returns whether there was one */
export async function deletePage(sql: Sql, { accountId, id }: AccountKey): Promise<void> {
  await sql.query('delete from status_pages where account_id = $1 and id = $2', [accountId, id]);
}

/** Its payload is the id of an account whose pages may have changed. */
export const STATUS_PAGES_CHANNEL = 'vedette_status_pages';
