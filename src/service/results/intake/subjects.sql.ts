import type { Sql } from '../../database/port.ts';

/** What results are about: a check, as far as it matters to taking them in. */
export interface Subject {
  readonly checkId: string;
  /** Minutes; 0 where it is run more than once a minute. */
  readonly frequency: number;
  /** Another one with each change of its own secret variables; null where it has none. */
  readonly ownSecrets: string | null;
  /** Of its account: see `secretsRevisionOf`. */
  readonly secretsRevision: number;
}

/**
 * Those of the checks that exist and are run. Until the transaction ends nobody else changes them, deletes
 * them, or takes in results of them: so of what belongs to a check (its FINALs, its missed slots,
 * its status) each transaction sees all that those before it wrote. They are locked in the order
 * of their ids, so that two transactions never wait for each other.
 */
export async function lockSubjects(
  sql: Sql,
  { accountId, checkIds }: { readonly accountId: string; readonly checkIds: readonly string[] },
): Promise<readonly Subject[]> {
  const rows = await sql.query<{
    id: string;
    frequency: number;
    ownSecrets: string | null;
    secretsRevision: number;
  }>(
    `select c.id, c.frequency, encode(sha256(c.sealed_variables), 'hex') as own_secrets,
       coalesce((select a.secrets_revision from accounts a where a.id = $1), 0) as secrets_revision
     from checks c
     where c.account_id = $1 and c.id = any($2::text[]) and c.check_type <> 'HEARTBEAT'
     order by c.id
     for no key update of c`,
    [accountId, checkIds],
  );
  return rows.map((row) => ({
    checkId: row.id,
    frequency: row.frequency,
    ownSecrets: row.ownSecrets,
    secretsRevision: row.secretsRevision,
  }));
}

/** One attempt of a run, as its agent names it. */
export interface NamedAttempt {
  readonly checkId: string;
  readonly sequenceId: string;
  readonly slotMs: number;
  readonly retriesMade: number;
}

/**
 * Which of the attempts belong to runs beside the plan that the location was given: one that was asked
 * for, or a retry that another location handed over. Of a retry it may make the attempt that it was
 * given and those after it.
 *
 * @returns their numbers in the list
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

/** The tags of checks with those of their groups, by which checks pause; by id. */
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
