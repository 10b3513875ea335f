import { storableText } from '../../runtime/text/storable-text.ts';
import type { Sql } from '../database/store.ts';

/** The stored outcome of an attempt. */
export interface AttemptOutcome {
  readonly state: 'waiting' | 'sent' | 'failed';
  /** When the next attempt of a waiting delivery is due. */
  readonly dueAtMs: number | null;
  /** The status of HTTP or SMTP. */
  readonly status: number | null;
  readonly error: string | null;
  /** The start of the receiver's answer; omitted for a table that stores none. */
  readonly answer?: string | null;
}

/** Stores the outcome only if the owner still has the claim of that attempt. @returns whether it does */
export async function recordAttempt(
  sql: Sql,
  {
    outbox,
    id,
    owner,
    attempt,
    atMs,
    outcome,
  }: {
    /** The table of the deliveries. */
    readonly outbox: 'alert_deliveries' | 'status_page_deliveries';
    readonly id: string;
    readonly owner: string;
    readonly attempt: number;
    readonly atMs: number;
    readonly outcome: AttemptOutcome;
  },
): Promise<boolean> {
  const { state, dueAtMs, status, error, answer } = outcome;
  const params: unknown[] = [
    id,
    owner,
    attempt,
    new Date(atMs),
    state,
    dueAtMs === null ? null : new Date(dueAtMs),
    status,
    error === null ? null : storableText(error),
  ];
  const setAnswer =
    answer === undefined
      ? ''
      : `, last_answer = $${params.push(answer === null ? null : storableText(answer))}`;
  const rows = await sql.query(
    `update ${outbox}
     set state = $5, due_at = coalesce($6::timestamptz, due_at), last_status = $7::int,
       last_error = $8${setAnswer}, owner = null, lease_until = null,
       finished_at = case when $5 = 'waiting' then null else $4::timestamptz end
     where id = $1 and owner = $2 and attempts = $3::int and state = 'sending'
     returning 1`,
    params,
  );
  return rows.length > 0;
}
