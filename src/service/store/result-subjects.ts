import type { Sql } from './port.ts';

/** What results are about: a check, as far as it matters to taking them in. */
export interface Subject {
  readonly checkId: string;
  /** Whether the check or its group names the location. */
  readonly namesLocation: boolean;
  /** When the check or its group last changed, or came to be; epoch milliseconds. */
  readonly changedAtMs: number;
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
  {
    accountId,
    checkIds,
    slug,
  }: { readonly accountId: string; readonly checkIds: readonly string[]; readonly slug: string },
): Promise<readonly Subject[]> {
  const rows = await sql.query<{
    id: string;
    names_location: boolean;
    changed_at: Date;
    own_secrets: string | null;
    secrets_revision: number;
  }>(
    `select c.id, encode(sha256(c.sealed_variables), 'hex') as own_secrets,
       coalesce((select a.secrets_revision from accounts a where a.id = $1), 0) as secrets_revision,
       coalesce(c.body -> 'privateLocations' ? $3, false)
         or coalesce(g.private_locations ? $3, false) as names_location,
       greatest(c.created_at, c.updated_at, g.updated_at) as changed_at
     from checks c left join check_groups g on g.id = c.group_id
     where c.account_id = $1 and c.id = any($2::text[]) and c.check_type <> 'HEARTBEAT'
     order by c.id
     for no key update of c`,
    [accountId, checkIds, slug],
  );
  return rows.map((row) => ({
    checkId: row.id,
    namesLocation: row.names_location,
    changedAtMs: row.changed_at.getTime(),
    ownSecrets: row.own_secrets,
    secretsRevision: row.secrets_revision,
  }));
}

/**
 * Which of the runs a location was given though no check names it: one-offs, and checks whose
 * assignment it has or lately lost.
 *
 * @param runs `sequenceId` null stands for slots of the plan
 * @returns their numbers in the list
 */
export async function runsGivenTo(
  sql: Sql,
  {
    accountId,
    locationId,
    runs,
  }: {
    readonly accountId: string;
    readonly locationId: string;
    readonly runs: readonly { readonly checkId: string; readonly sequenceId: string | null }[];
  },
): Promise<ReadonlySet<number>> {
  const rows = await sql.query<{ number: number }>(
    `select (run.number - 1)::int as number
     from unnest($3::text[], $4::text[]) with ordinality as run (check_id, sequence_id, number)
     where exists (select from one_off_runs o where o.account_id = $1 and o.location_id = $2
         and o.check_id = run.check_id and o.sequence_id = run.sequence_id)
       or exists (select from assignments a where a.location_id = $2
         and a.check_id = run.check_id)
       or exists (select from assignment_tombstones t where t.location_id = $2
         and t.check_id = run.check_id)`,
    [
      accountId,
      locationId,
      runs.map(({ checkId }) => checkId),
      runs.map(({ sequenceId }) => sequenceId),
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
