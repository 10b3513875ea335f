import type { OneOffMessage } from '../../wire/v1/assignment.ts';
import type { Sql } from '../database/store.ts';
import { HAS_FEATURES, SENT_SCRIPTS, SENT_SCRIPTS_BYTES } from './needed-features.sql.ts';
import type { RunReason } from './sql.ts';

/** An agent with its lease. */
export interface LeaseHolder {
  readonly accountId: string;
  readonly locationId: string;
  readonly agentId: string;
  readonly epoch: number;
}

/** The agent of row `a` can run the check of row `c`, by the capabilities that it reports. */
export const CAN_RUN = `(a.capabilities -> 'types' ? c.check_type
  and (c.check_type <> 'ICMP' or a.capabilities -> 'icmp' = 'true'::jsonb)
  and (c.body #>> '{request,ipFamily}' is distinct from 'BOTH'
    or a.capabilities -> 'ipv6' = 'true'::jsonb)
  and ${HAS_FEATURES})`;

/** The agent that claimed the run of row `r` still has its lease. */
export const IS_HELD = `exists (
  select from agents a where a.location_id = r.location_id and a.id = r.agent_id
    and a.epoch = r.agent_epoch and a.lease_until > now())`;

/** The run of row `r` may begin, whichever agent has it. */
export const MAY_BEGIN = `r.state in ('waiting', 'assigned') and r.closed_at is null
  and r.not_after > now()`;

/** The run may begin in a location ($2), whichever agent has it. */
const IS_OPEN = `r.account_id = $1 and r.location_id = $2 and ${MAY_BEGIN}`;

/**
 * Whether no live agent has the run, this agent ($3, $4) can execute it, and the check is assigned to no other
 * live agent.
 */
const IS_CLAIMABLE = `not ${IS_HELD}
  and exists (
    select from agents a join checks c on c.account_id = r.account_id and c.id = r.check_id
    where a.location_id = r.location_id and a.id = $3 and a.epoch = $4::bigint
      and a.lease_until > now() and ${CAN_RUN})
  and not exists (
    select from assignments s join agents a on a.location_id = s.location_id
      and a.id = s.agent_id and a.epoch = s.agent_epoch and a.lease_until > now()
    where s.location_id = r.location_id and s.check_id = r.check_id and a.id <> $3)`;

function paramsOf({ accountId, locationId, agentId, epoch }: LeaseHolder): readonly unknown[] {
  return [accountId, locationId, agentId, epoch];
}

/**
 * Claims runs for this agent, except those that another transaction has locked. The statement does not see
 * leases that began after the statement did: another agent may have acquired one and claimed a run. Therefore
 * it skips each run whose agent has changed.
 */
export async function claimRuns(sql: Sql, who: LeaseHolder, limit: number): Promise<void> {
  await sql.query(
    `with seen as materialized (
       select r.id, r.agent_id, r.agent_epoch from one_off_runs r
       where ${IS_OPEN} and ${IS_CLAIMABLE}
       order by r.created_at, r.id limit $5::bigint
     ), locked as (
       select r.id from one_off_runs r join seen on seen.id = r.id
       where ${IS_OPEN}
         and (r.agent_id, r.agent_epoch) is not distinct from (seen.agent_id, seen.agent_epoch)
       for update of r skip locked
     )
     update one_off_runs r set state = 'assigned', agent_id = $3, agent_epoch = $4::bigint
     from locked where r.id = locked.id`,
    [...paramsOf(who), limit],
  );
}

type HeldRow = {
  readonly id: string;
  readonly checkId: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly sealedVariables: Buffer | null;
  readonly scripts: OneOffMessage['scripts'];
  readonly groupId: number | null;
  readonly reason: RunReason;
  readonly slot: Date;
  readonly sequenceId: string;
  readonly notBefore: Date | null;
  readonly notAfter: Date;
  readonly retriesMade: number;
  readonly firstStartedAt: Date | null;
};

/** A run, before the secret variables of its check are decrypted. */
export interface HeldRun {
  readonly run: OneOffMessage;
  /** The encrypted values of the check's secret variables; null if there are none. */
  readonly sealedVariables: Buffer | null;
}

/**
 * The runs that an agent has and has not closed, oldest first, with the current checks.
 *
 * @param maxBytes of the JSON of all checks; the first run is returned whatever its size
 */
export async function listHeldRuns(
  sql: Sql,
  who: LeaseHolder,
  { limit, maxBytes }: { readonly limit: number; readonly maxBytes: number },
): Promise<readonly HeldRun[]> {
  const rows = await sql.query<HeldRow>(
    `select * from (
       select r.*, c.body, c.sealed_variables, c.group_id, ${SENT_SCRIPTS} as scripts,
         row_number() over oldest as n,
         sum(octet_length(c.body::text) + coalesce(octet_length(c.sealed_variables), 0)
           + ${SENT_SCRIPTS_BYTES}) over oldest as bytes_so_far
       from one_off_runs r join checks c on c.account_id = r.account_id and c.id = r.check_id
       where ${IS_OPEN} and r.agent_id = $3 and r.agent_epoch = $4::bigint and ${IS_HELD}
       window oldest as (order by r.created_at, r.id)
     ) held
     where n = 1 or (n <= $5::bigint and bytes_so_far <= $6::bigint)
     order by n`,
    [...paramsOf(who), limit, maxBytes],
  );
  return rows.map((row) => ({
    run: {
      runId: row.id,
      checkId: row.checkId,
      // The column has the group: deleting a group clears it there, but not in the body.
      check: { ...row.body, groupId: row.groupId },
      scripts: row.scripts,
      reason: row.reason,
      slot: row.slot.getTime(),
      sequenceId: row.sequenceId,
      notBefore: row.notBefore?.getTime() ?? null,
      notAfter: row.notAfter.getTime(),
      retriesMade: row.retriesMade,
      firstStartedAt: row.firstStartedAt?.getTime() ?? null,
    },
    sealedVariables: row.sealedVariables,
  }));
}

/**
 * Also closes runs of an earlier lease of the agent: it knows their outcome. Locks the rows in the order
 * of ids, like `finishRuns`.
 */
export async function closeRuns(
  sql: Sql,
  who: LeaseHolder,
  runIds: readonly string[],
): Promise<void> {
  if (runIds.length === 0) return;
  await sql.query(
    `with own as (
       select id from one_off_runs
       where account_id = $1 and location_id = $2 and agent_id = $3 and agent_epoch <= $4::bigint
         and id = any($5::text[]) and closed_at is null
       order by id for update
     )
     update one_off_runs r set closed_at = now() from own where r.id = own.id`,
    [...paramsOf(who), runIds],
  );
}

/** Whether the agent has this lease now. */
export async function hasLease(sql: Sql, who: LeaseHolder): Promise<boolean> {
  const rows = await sql.query(
    `select from agents where account_id = $1 and location_id = $2 and id = $3
       and epoch = $4::bigint and lease_until > now()`,
    paramsOf(who),
  );
  return rows.length > 0;
}
