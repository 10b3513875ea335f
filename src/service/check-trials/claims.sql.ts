import type { TrialMessage } from '../../wire/v1/trials.ts';
import { ASSIGNMENTS_CHANNEL } from '../agents/shared.sql.ts';
import { CAN_RUN, type LeaseHolder, SENT_SCRIPTS } from '../check-runs/shared.sql.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Sql } from '../database/store.ts';
import { jsonText } from '../database/values.ts';
import { MAKES_TRIALS } from './sql.ts';

/** The location of row `l` has trials that its agents may begin or have not reported. */
export const HAS_OPEN_TRIALS = `exists (select from check_trials t
  where t.location_id = l.id and t.state in ('waiting', 'running'))`;

/**
 * Claims waiting trials for this agent, oldest first, and wakes the requests that wait for them.
 *
 * @param max how many trials the agent may have at once
 */
export async function claimTrials(sql: Sql, who: LeaseHolder, max: number): Promise<void> {
  await sql.query(
    `with chosen as (
       select c.id from check_trials c
       where c.account_id = $1 and c.location_id = $2 and c.state = 'waiting' and c.not_after > now()
         and exists (select from agents a where a.location_id = c.location_id and a.id = $3
           and a.epoch = $4::bigint and a.lease_until > now() and ${MAKES_TRIALS} and ${CAN_RUN})
       order by c.created_at, c.id
       limit greatest(0, $5::bigint - (select count(*) from check_trials h
         where h.location_id = $2 and h.state = 'running' and h.agent_id = $3
           and h.agent_epoch = $4::bigint))
       for update of c skip locked
     ), claimed as (
       update check_trials t set state = 'running', agent_id = $3, agent_epoch = $4::bigint
       from chosen where t.id = chosen.id returning t.location_id
     )
     select pg_notify($6, location_id)::text from claimed group by location_id`,
    [who.accountId, who.locationId, who.agentId, who.epoch, max, ASSIGNMENTS_CHANNEL],
  );
}

/** A trial that an agent has, before the secrets of its check are decrypted. */
export type HeldTrial = {
  readonly id: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly sealedVariables: Buffer | null;
  readonly slot: Date;
  readonly notAfter: Date;
};

/** With the scripts that its check runs. */
export type ClaimedTrial = HeldTrial & { readonly scripts: TrialMessage['scripts'] };

/** The trials that an agent has and has not reported, oldest first. */
export function listHeldTrials(sql: Sql, who: LeaseHolder): Promise<readonly ClaimedTrial[]> {
  return sql.query<ClaimedTrial>(
    `select id, body, sealed_variables, slot, not_after, ${SENT_SCRIPTS} as scripts
     from check_trials c
     where account_id = $1 and location_id = $2 and state = 'running' and agent_id = $3
       and agent_epoch = $4::bigint
     order by created_at, id`,
    [who.accountId, who.locationId, who.agentId, who.epoch],
  );
}

/** A trial whose agent reports its end. */
export type ReportedTrial = HeldTrial & {
  readonly checkType: string;
  /** The slug. */
  readonly location: string;
};

/** Locks the trial until the transaction ends, if this agent has it and it has not ended. */
export async function lockHeldTrial(
  sql: Sql,
  { accountId, locationId, agentId, epoch }: LeaseHolder,
  id: string,
): Promise<ReportedTrial | null> {
  const [trial] = await sql.query<ReportedTrial>(
    `select t.id, t.body, t.sealed_variables, t.slot, t.not_after, t.check_type,
       (select l.slug from private_locations l where l.id = t.location_id) as location
     from check_trials t
     where t.account_id = $1 and t.location_id = $2 and t.agent_id = $3 and t.agent_epoch = $4::bigint
       and t.id = $5 and t.state = 'running'
     for update of t`,
    [accountId, locationId, agentId, epoch, id],
  );
  return trial ?? null;
}

/** How a trial ended. */
export type TrialEnd =
  | { readonly state: 'finished'; readonly result: object; readonly explanation: object }
  | { readonly state: 'missed'; readonly reason: string; readonly message: string };

/** Ends a locked trial, deletes its check with the secrets, and wakes the requests that wait for it. */
export async function endTrial(
  sql: Sql,
  { accountId, id }: AccountKey,
  end: TrialEnd,
): Promise<void> {
  const isFinished = end.state === 'finished';
  await sql.query(
    `with ended as (
       update check_trials set state = $3, reason = $4, message = $5, result = $6::jsonb,
         explanation = $7::jsonb, body = null, sealed_variables = null, ended_at = now()
       where account_id = $1 and id = $2 returning location_id
     )
     select pg_notify($8, location_id)::text from ended`,
    [
      accountId,
      id,
      end.state,
      isFinished ? null : end.reason,
      isFinished ? null : end.message,
      isFinished ? jsonText(end.result) : null,
      isFinished ? jsonText(end.explanation) : null,
      ASSIGNMENTS_CHANNEL,
    ],
  );
}
