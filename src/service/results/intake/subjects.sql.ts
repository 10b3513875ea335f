import type { Sql } from '../../database/store.ts';

/** The facts about the check of a result that the intake needs. */
export type ResultSubject = {
  readonly checkId: string;
  /** Minutes; 0 if the check runs more than once a minute. */
  readonly frequency: number;
  /** A hash that changes with the check's own secret variables; null if it has none. */
  readonly ownSecrets: string | null;
  /** The revision of the account's secrets: see `secretsRevisionOf`. */
  readonly secretsRevision: number;
};

/**
 * Locks the checks among these that exist and run. Until the transaction ends, no other transaction changes or
 * deletes them or stores their results, so each transaction sees all FINALs, missed slots and statuses of
 * earlier ones. Locks in the order of ids, so that two transactions cannot deadlock.
 */
export function lockSubjects(
  sql: Sql,
  { accountId, checkIds }: { readonly accountId: string; readonly checkIds: readonly string[] },
): Promise<readonly ResultSubject[]> {
  return sql.query<ResultSubject>(
    `select c.id as check_id, c.frequency, encode(sha256(c.sealed_variables), 'hex') as own_secrets,
       coalesce((select a.secrets_revision from accounts a where a.id = $1), 0) as secrets_revision
     from checks c
     where c.account_id = $1 and c.id = any($2::text[]) and c.check_type <> 'HEARTBEAT'
     order by c.id
     for no key update of c`,
    [accountId, checkIds],
  );
}

/** One attempt of a run, as its agent reports it. */
export interface NamedAttempt {
  readonly checkId: string;
  readonly sequenceId: string;
  readonly slotMs: number;
  readonly retriesMade: number;
}

/**
 * Finds the attempts of unscheduled runs that the location was given: a requested run, or a retry that another
 * location handed over. Ignores runs of a deleted check with the same id. Of a retry, the location may make the
 * attempt that it was given and later ones.
 *
 * @returns their indexes
 */
export async function attemptsGivenTo(
  sql: Sql,
  {
    accountId,
    locationId,
    attempts,
  }: {
    readonly accountId: string;
    readonly locationId: string;
    readonly attempts: readonly NamedAttempt[];
  },
): Promise<ReadonlySet<number>> {
  if (attempts.length === 0) return new Set();
  const column = <Value>(of: (attempt: NamedAttempt) => Value): Value[] => attempts.map(of);
  const rows = await sql.query<{ number: number }>(
    `select (given.number - 1)::int as number
     from unnest($3::text[], $4::text[], $5::timestamptz[], $6::int[]) with ordinality
       as given (check_id, sequence_id, slot, retries_made, number)
     where exists (
       select from one_off_runs o
       where o.account_id = $1 and o.check_id = given.check_id
         and o.sequence_id = given.sequence_id and o.slot = given.slot
         and o.retries_made <= given.retries_made
         and not o.check_deleted
         and $2 in (o.location_id, o.taken_from_location_id))`,
    [
      accountId,
      locationId,
      column(({ checkId }) => checkId),
      column(({ sequenceId }) => sequenceId),
      column(({ slotMs }) => new Date(slotMs)),
      column(({ retriesMade }) => retriesMade),
    ],
  );
  return new Set(rows.map(({ number }) => number));
}

/** The tags of checks and of their groups, which maintenance windows select; by check id. */
export async function tagsOfChecks(
  sql: Sql,
  { accountId, checkIds }: { readonly accountId: string; readonly checkIds: readonly string[] },
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await sql.query<{ id: string; tags: readonly string[] }>(
    `select c.id, c.tags || coalesce(g.tags, '[]'::jsonb) as tags
     from checks c left join check_groups g on g.id = c.group_id
     where c.account_id = $1 and c.id = any($2::text[])`,
    [accountId, checkIds],
  );
  return new Map(rows.map(({ id, tags }) => [id, tags]));
}
