import type { OneOffMessage } from '../../wire/v1/assignment.ts';
import type { Sql } from '../database/port.ts';
import type { RunReason } from './sql.ts';

/** An agent as it holds its lease. */
export interface LeaseHolder {
  readonly accountId: string;
  readonly locationId: string;
  readonly agentId: string;
  readonly epoch: number;
}

/** What the agent of row `a` says of itself lets it run the check of row `c`. */
export const CAN_RUN = `(a.capabilities -> 'types' ? c.check_type
  and (c.check_type <> 'ICMP' or a.capabilities -> 'icmp' = 'true'::jsonb))`;

/** Whoever was given the run of row `r` has its lease still. */
export const IS_HELD = `exists (
  select from agents a where a.location_id = r.location_id and a.id = r.agent_id
    and a.epoch = r.agent_epoch and a.lease_until > now())`;

/** The run of row `r` may be begun, whoever has it. */
export const MAY_BEGIN = `r.state in ('waiting', 'assigned') and r.closed_at is null
  and r.not_after > now()`;

/** The runs of a location ($2) that may be begun, whoever has them. */
const IS_OPEN = `r.account_id = $1 and r.location_id = $2 and ${MAY_BEGIN}`;

/** Nobody live has it, and it is for this agent ($3, $4): nobody else live has the check. */
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
 * Takes for this agent what it may, as far as nobody else is at it. Somebody may have taken a run,
 * and begun a lease, since the statement began, which sees no lease that is younger than itself: so
 * a run that has changed hands since then is left alone, whoever has it.
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
  readonly groupId: number | null;
  readonly reason: RunReason;
  readonly slot: Date;
  readonly sequenceId: string;
  readonly notBefore: Date | null;
  readonly notAfter: Date;
  readonly retriesMade: number;
  readonly firstStartedAt: Date | null;
};

/** A run, before the secret variables of its check are opened. */
export interface HeldRun {
  readonly run: OneOffMessage;
  /** The values of its check's secret variables, encrypted; null where it has none. */
  readonly sealedVariables: Buffer | null;
}

/**
 * What an agent holds and has not closed, oldest first, with the checks as they are now.
 *
 * @param maxBytes of the checks' JSON in all; the first one is given whatever it takes
 */
export async function listHeldRuns(
  sql: Sql,
  who: LeaseHolder,
  { limit, maxBytes }: { readonly limit: number; readonly maxBytes: number },
): Promise<readonly HeldRun[]> {
  const rows = await sql.query<HeldRow>(
    `select * from (
       select r.*, c.body, c.sealed_variables, c.group_id, row_number() over oldest as place,
         sum(octet_length(c.body::text) + coalesce(octet_length(c.sealed_variables), 0))
           over oldest as bytes_so_far
       from one_off_runs r join checks c on c.account_id = r.account_id and c.id = r.check_id
       where ${IS_OPEN} and r.agent_id = $3 and r.agent_epoch = $4::bigint and ${IS_HELD}
       window oldest as (order by r.created_at, r.id)
     ) held
     where place = 1 or (place <= $5::bigint and bytes_so_far <= $6::bigint)
     order by place`,
    [...paramsOf(who), limit, maxBytes],
  );
  return rows.map((row) => ({
    run: {
      runId: row.id,
      checkId: row.checkId,
      // The column holds the group: a deleted one is cleared there, and not in the body.
      check: { ...row.body, groupId: row.groupId },
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
 * An agent that lost its lease meanwhile, and has it again, still knows what became of a run. The
 * rows are locked in the order of their ids, as where their results come in.
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
