import { ASSIGNMENTS_CHANNEL } from '../agents/shared.sql.ts';
import { CAN_RUN, HAS_FEATURES } from '../check-runs/shared.sql.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Sql } from '../database/store.ts';
import { jsonText } from '../database/values.ts';
import { SHOWN_RESULT } from '../results/shared.sql.ts';

/**
 * - `waiting`: no agent has it
 * - `running`: an agent claimed it
 * - `finished`: its result is stored
 * - `missed`: its agent reported that it did not run it
 * - `expired`: no agent took it, or its agent did not report its end
 */
export const TRIAL_STATES = ['waiting', 'running', 'finished', 'missed', 'expired'] as const;
export type TrialState = (typeof TRIAL_STATES)[number];

/** A trial without the check itself. */
export type Trial = {
  readonly id: string;
  readonly locationId: string;
  /** The slug of the location. */
  readonly location: string;
  /** The check that it would change; null for a new one. */
  readonly checkId: string | null;
  readonly name: string;
  readonly checkType: string;
  readonly target: string;
  readonly state: TrialState;
  readonly createdAt: Date;
  readonly startBy: Date;
  readonly endedAt: Date | null;
  readonly reason: string | null;
  readonly message: string | null;
  /** The result as the API shows it; JSON. */
  readonly result: string | null;
  readonly explanation: Readonly<Record<string, unknown>> | null;
};

export interface NewTrial extends AccountKey {
  readonly locationId: string;
  readonly checkId: string | null;
  readonly name: string;
  readonly checkType: string;
  readonly target: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly sealedVariables: Buffer | null;
  readonly slotMs: number;
  /** How long it may wait for an agent. */
  readonly windowMs: number;
}

/** Stores a trial and wakes the polls of its location. */
export async function insertTrial(sql: Sql, trial: NewTrial): Promise<void> {
  await sql.query(
    `with added as (
       insert into check_trials (id, account_id, location_id, check_id, name, check_type, target, body,
         sealed_variables, slot, not_after)
       values ($1, $2, $3, $4, $5, $6, $7, $8::jsonb, $9::bytea, $10::timestamptz,
         now() + $11::double precision * interval '1 millisecond')
       returning location_id
     )
     select pg_notify($12, location_id)::text from added`,
    [
      trial.id,
      trial.accountId,
      trial.locationId,
      trial.checkId,
      trial.name,
      trial.checkType,
      trial.target,
      jsonText(trial.body),
      trial.sealedVariables,
      new Date(trial.slotMs),
      trial.windowMs,
      ASSIGNMENTS_CHANNEL,
    ],
  );
}

export async function findTrial(sql: Sql, { accountId, id }: AccountKey): Promise<Trial | null> {
  const [trial] = await sql.query<Trial>(
    `select t.id, t.location_id, l.slug as location, t.check_id, t.name, t.check_type, t.target, t.state,
       t.created_at, t.not_after as start_by, t.ended_at, t.reason, t.message, t.explanation,
       (select ${SHOWN_RESULT} from (select t.result as body) r where t.result is not null) as result
     from check_trials t join private_locations l on l.id = t.location_id
     where t.account_id = $1 and t.id = $2`,
    [accountId, id],
  );
  return trial ?? null;
}

/** Reads only the state: a result may have 1 MB. */
export async function findTrialState(
  sql: Sql,
  { accountId, id }: AccountKey,
): Promise<{ readonly state: TrialState; readonly locationId: string } | null> {
  const [found] = await sql.query<{ state: TrialState; locationId: string }>(
    'select state, location_id from check_trials where account_id = $1 and id = $2',
    [accountId, id],
  );
  return found ?? null;
}

/** How many trials of an account wait or run. */
export async function countOpenTrials(sql: Sql, accountId: string): Promise<number> {
  const [row] = await sql.query<{ open: number }>(
    `select count(*) as open from check_trials
     where account_id = $1 and state in ('waiting', 'running')`,
    [accountId],
  );
  return row?.open ?? 0;
}

/** Deletes the oldest ended trials of an account, so that at most `keep` are left. */
export async function deleteSurplusTrials(
  sql: Sql,
  { accountId, keep }: { readonly accountId: string; readonly keep: number },
): Promise<void> {
  await sql.query(
    `delete from check_trials where id in (
       select id from check_trials
       where account_id = $1 and state not in ('waiting', 'running')
       order by created_at desc, id desc offset $2::bigint)`,
    [accountId, keep],
  );
}

/** How many agents of a location are live, of a release that supports this trial, and able to run it. */
export async function countCapableAgents(
  sql: Sql,
  {
    locationId,
    checkType,
    body,
  }: { readonly locationId: string } & Pick<NewTrial, 'checkType' | 'body'>,
): Promise<{ readonly live: number; readonly current: number; readonly capable: number }> {
  const [row] = await sql.query<{ live: number; current: number; capable: number }>(
    `select count(*) as live, count(*) filter (where ${MAKES_TRIALS} and ${HAS_FEATURES}) as current,
       count(*) filter (where ${MAKES_TRIALS} and ${CAN_RUN}) as capable
     from agents a cross join (select $2::text as check_type, $3::jsonb as body) c
     where a.location_id = $1 and a.lease_until > now()`,
    [locationId, checkType, jsonText(body)],
  );
  return row ?? { live: 0, current: 0, capable: 0 };
}

/** The agent of row `a` makes trials: those of earlier releases do not. */
export const MAKES_TRIALS = `a.capabilities -> 'trials' = 'true'::jsonb`;
