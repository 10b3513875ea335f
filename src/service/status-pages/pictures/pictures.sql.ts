import { storableText } from '../../../runtime/text/storable-text.ts';
import type { Sql } from '../../database/store.ts';
import type { Picture, PictureKind } from './picture.ts';

/** Which picture of which page. */
export type PictureKey = {
  readonly accountId: string;
  readonly pageId: string;
  readonly kind: PictureKind;
};

/** A picture that its owner may fetch until the lease ends. */
export type ClaimedPicture = {
  readonly url: string;
  /** The number of the attempt for this URL; counts from 1. */
  readonly attempt: number;
};

/** The URL of a picture in its page. */
const URL_OF = (page: string, kind: string): string =>
  `case ${kind} when 'logo' then ${page}.logo else ${page}.favicon end`;

/**
 * Claims a picture whose URL was not fetched yet: if it is a new one, if its attempt is due, or if
 * `isAsked` and no attempt is in progress.
 *
 * @returns null if there is nothing to fetch
 */
export async function claimPicture(
  sql: Sql,
  {
    accountId,
    pageId,
    kind,
    isAsked,
    atMs,
    leaseMs,
  }: PictureKey & {
    readonly isAsked: boolean;
    readonly atMs: number;
    readonly leaseMs: number;
  },
): Promise<ClaimedPicture | null> {
  const rows = await sql.query<ClaimedPicture>(
    `insert into status_page_pictures as s
       (account_id, status_page_id, kind, url, attempts, next_attempt_at)
     select p.account_id, p.id, $3, ${URL_OF('p', '$3')}, 1, $6::timestamptz
     from status_pages p
     where p.account_id = $1 and p.id = $2 and ${URL_OF('p', '$3')} is not null
     on conflict (account_id, status_page_id, kind) do update
     set url = excluded.url, next_attempt_at = excluded.next_attempt_at, problem = null,
       attempts = case when s.url = excluded.url and not $4::boolean then s.attempts + 1 else 1 end
     where s.fetched_url is distinct from excluded.url and (s.url <> excluded.url
       or s.next_attempt_at <= $5::timestamptz or ($4::boolean and s.problem is not null))
     returning url, attempts as attempt`,
    [accountId, pageId, kind, isAsked, new Date(atMs), new Date(atMs + leaseMs)],
  );
  return rows[0] ?? null;
}

/**
 * Lists pictures that `claimPicture` would claim without a request. Orders those of an account by never tried,
 * then by due time, and takes the first picture of every account before the second of any.
 */
export async function duePictures(
  sql: Sql,
  {
    atMs,
    limit,
    ofAccount,
  }: {
    readonly atMs: number;
    readonly limit: number;
    /** Maximum number of pictures of an account. */
    readonly ofAccount: number;
  },
): Promise<readonly PictureKey[]> {
  return sql.query<PictureKey>(
    `select account_id, page_id, kind from (
       select p.account_id, p.id as page_id, wanted.kind, s.next_attempt_at, row_number() over (
         partition by p.account_id order by s.next_attempt_at nulls first) as position
       from status_pages p
       cross join lateral (values ('logo', p.logo), ('favicon', p.favicon)) as wanted (kind, url)
       left join status_page_pictures s on s.account_id = p.account_id
         and s.status_page_id = p.id and s.kind = wanted.kind
       where wanted.url is not null and (s.kind is null or (s.fetched_url is distinct from wanted.url
         and (s.url <> wanted.url or s.next_attempt_at <= $1::timestamptz)))
     ) as due
     where position <= $3::int
     order by position, next_attempt_at nulls first limit $2::int`,
    [new Date(atMs), limit, ofAccount],
  );
}

type Attempt = PictureKey & ClaimedPicture;

/** Saves the picture unless another process has claimed it since. Notifies clients of the account. */
export async function savePicture(
  sql: Sql,
  {
    accountId,
    pageId,
    kind,
    url,
    attempt,
    picture: { type, width, height, bytes },
    hash,
  }: Attempt & { readonly picture: Picture; readonly hash: string },
): Promise<void> {
  await sql.query(
    `update status_page_pictures
     set fetched_url = url, problem = null, next_attempt_at = null, type = $6, width = $7::int,
       height = $8::int, bytes = $9::bytea, hash = $10
     where account_id = $1 and status_page_id = $2 and kind = $3 and url = $4
       and attempts = $5::int`,
    [accountId, pageId, kind, url, attempt, type, width, height, bytes, hash],
  );
}

/** Saves the problem unless another process has claimed it since. Keeps the last picture that was fetched. */
export async function savePictureProblem(
  sql: Sql,
  {
    accountId,
    pageId,
    kind,
    url,
    attempt,
    problem,
    nextAttemptAtMs,
  }: Attempt & {
    readonly problem: string;
    /** null: only when a user requests it. */
    readonly nextAttemptAtMs: number | null;
  },
): Promise<void> {
  await sql.query(
    `update status_page_pictures set problem = $6, next_attempt_at = $7::timestamptz
     where account_id = $1 and status_page_id = $2 and kind = $3 and url = $4
       and attempts = $5::int and fetched_url is distinct from url`,
    [
      accountId,
      pageId,
      kind,
      url,
      attempt,
      storableText(problem),
      nextAttemptAtMs === null ? null : new Date(nextAttemptAtMs),
    ],
  );
}

/** Lets the pictures of a page be fetched again, although their URLs have not changed. */
export async function expirePictures(
  sql: Sql,
  {
    accountId,
    pageId,
    atMs,
  }: { readonly accountId: string; readonly pageId: string; readonly atMs: number },
): Promise<void> {
  await sql.query(
    `update status_page_pictures
     set fetched_url = null, problem = null, next_attempt_at = $3::timestamptz, attempts = 0
     where account_id = $1 and status_page_id = $2 and fetched_url is not null`,
    [accountId, pageId, new Date(atMs)],
  );
}

export type StoredPicture = Picture & { readonly hash: string };

/** null if the page has no URL for the picture, or none was fetched. */
export async function findPicture(
  sql: Sql,
  { accountId, pageId, kind }: PictureKey,
): Promise<StoredPicture | null> {
  const rows = await sql.query<StoredPicture>(
    `select s.type, s.width, s.height, s.bytes, s.hash
     from status_page_pictures s
     join status_pages p on p.account_id = s.account_id and p.id = s.status_page_id
     where s.account_id = $1 and s.status_page_id = $2 and s.kind = $3 and s.hash is not null
       and ${URL_OF('p', 's.kind')} is not null`,
    [accountId, pageId, kind],
  );
  return rows[0] ?? null;
}

/**
 * Deletes pictures for which their pages have no URL any more.
 *
 * @returns how many
 */
export async function deleteUnusedPictures(
  sql: Sql,
  { limit }: { readonly limit: number },
): Promise<number> {
  const rows = await sql.query(
    `delete from status_page_pictures
     where (account_id, status_page_id, kind) in (
       select s.account_id, s.status_page_id, s.kind
       from status_page_pictures s
       join status_pages p on p.account_id = s.account_id and p.id = s.status_page_id
       where ${URL_OF('p', 's.kind')} is null limit $1::int)
     returning 1`,
    [limit],
  );
  return rows.length;
}

/** The state of a picture that pages show. */
export interface PictureState {
  readonly url: string;
  readonly fetchedUrl: string | null;
  readonly problem: string | null;
  /** Whether the service tries again by itself. */
  readonly isRetried: boolean;
  /** The next are null before the first was fetched. */
  readonly hash: string | null;
  readonly width: number | null;
  readonly height: number | null;
}

/** The states of the pictures of page `p` by their kinds, as an expression for a statement that reads pages. */
export const PICTURE_STATES = `coalesce((
  select jsonb_object_agg(s.kind, jsonb_build_object('url', s.url, 'fetchedUrl', s.fetched_url,
    'problem', s.problem, 'isRetried', s.next_attempt_at is not null, 'hash', s.hash,
    'width', s.width, 'height', s.height))
  from status_page_pictures s
  where s.account_id = p.account_id and s.status_page_id = p.id), '{}')`;
