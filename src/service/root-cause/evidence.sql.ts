import { DAY_MS } from '../../model/time-units.ts';
import type { Sql } from '../database/store.ts';

interface OfCheck {
  readonly accountId: string;
  readonly checkId: string;
}

/** A run of the check somewhere. */
export interface RunLocation extends OfCheck {
  readonly location: string;
  /** Epoch milliseconds. */
  readonly slotMs: number;
}

/** Results may arrive long after their slot: from a retry in another location, or a spool. */
const LATE_MS = DAY_MS;

/**
 * The latest FINAL that failed.
 *
 * @param errorGroupId only of that group; null for any
 * @param newest how many of the latest failures are searched for the group
 */
export async function latestFailure(
  sql: Sql,
  {
    accountId,
    checkId,
    errorGroupId,
    sinceMs,
    newest,
  }: OfCheck & {
    readonly errorGroupId: string | null;
    readonly sinceMs: number;
    readonly newest: number;
  },
): Promise<string | null> {
  const [row] = await sql.query<{ body: string }>(
    `select body::text as body from (
       select body, created_at, slot from check_results
       where account_id = $1 and check_id = $2 and created_at >= $3::timestamptz
         and slot >= $3::timestamptz - interval '1 day'
         and result_type = 'FINAL' and has_failures
       order by created_at desc, slot desc limit $5::bigint) as failed
     where $4::text is null or body -> 'errorGroupIds' ? $4::text
     order by created_at desc, slot desc limit 1`,
    [accountId, checkId, new Date(sinceMs), errorGroupId, newest],
  );
  return row?.body ?? null;
}

/** The parts of a run that passed that are compared with a failure. */
export interface PassedRun {
  readonly slotMs: number;
  readonly responseTimeMs: number;
  /** As in the result. */
  readonly phases: unknown;
  readonly address: string | null;
  readonly status: string | null;
  /** The fingerprint of the certificate that the server showed. */
  readonly fingerprint: string | null;
  readonly issuer: string | null;
}

/** The latest runs before this one that passed, in the same location, newest first. */
export async function passedBefore(
  sql: Sql,
  { accountId, checkId, location, slotMs }: RunLocation,
  { withinMs, limit }: { readonly withinMs: number; readonly limit: number },
): Promise<readonly PassedRun[]> {
  const rows = await sql.query<
    Omit<PassedRun, 'slotMs' | 'responseTimeMs'> & {
      readonly slot: Date;
      readonly responseTime: number | null;
    }
  >(
    `select slot, response_time,
       coalesce(body #> '{apiCheckResult,response,timingPhases}',
         body #> '{tcpCheckResult,timingPhases}', body #> '{dnsCheckResult,timingPhases}',
         body #> '{icmpCheckResult,timingPhases}') as phases,
       coalesce(body #>> '{apiCheckResult,response,ip}',
         body #>> '{tcpCheckResult,response,address}',
         body #>> '{icmpCheckResult,response,resolvedIp}') as address,
       body #>> '{apiCheckResult,response,status}' as status,
       body #>> '{apiCheckResult,response,tls,certificate,fingerprint256}' as fingerprint,
       body #>> '{apiCheckResult,response,tls,certificate,issuer}' as issuer
     from check_results
     where account_id = $1 and check_id = $2 and run_location = $3
       and slot >= $5::timestamptz and slot < $4::timestamptz
       and created_at >= $5::timestamptz and created_at < $6::timestamptz
       and result_type = 'FINAL' and not has_failures and not has_errors
       and not coalesce((body -> 'isCancelled')::boolean, false)
     order by created_at desc limit $7::bigint`,
    [
      accountId,
      checkId,
      location,
      new Date(slotMs),
      new Date(slotMs - withinMs),
      new Date(slotMs + LATE_MS),
      limit,
    ],
  );
  return rows.map(({ slot, responseTime, ...row }) => ({
    ...row,
    slotMs: slot.getTime(),
    responseTimeMs: responseTime ?? 0,
  }));
}

/** The failures of a location after an instant, up to this run. */
export async function failuresSince(
  sql: Sql,
  { accountId, checkId, location, slotMs }: RunLocation,
  afterMs: number,
): Promise<{ readonly runs: number; readonly firstSlotMs: number | null }> {
  const [row] = await sql.query<{ runs: number; first: Date | null }>(
    `select count(*) as runs, min(slot) as first from check_results
     where account_id = $1 and check_id = $2 and run_location = $3
       and slot > $4::timestamptz and slot <= $5::timestamptz
       and created_at > $4::timestamptz and created_at < $6::timestamptz
       and result_type = 'FINAL' and has_failures`,
    [accountId, checkId, location, new Date(afterMs), new Date(slotMs), new Date(slotMs + LATE_MS)],
  );
  return { runs: row?.runs ?? 0, firstSlotMs: row?.first?.getTime() ?? null };
}

/** A run of the check in another location around the same time. */
export interface OtherLocation {
  readonly location: string;
  readonly slotMs: number;
  readonly passed: boolean;
  readonly code: string | null;
  readonly status: string | null;
}

/** The run of each other location that is nearest in time, if any is near. */
export async function otherLocations(
  sql: Sql,
  { accountId, checkId, location, slotMs }: RunLocation,
  { withinMs, limit }: { readonly withinMs: number; readonly limit: number },
): Promise<readonly OtherLocation[]> {
  const rows = await sql.query<Omit<OtherLocation, 'slotMs'> & { readonly slot: Date }>(
    `select distinct on (run_location) run_location as location, slot,
       not has_failures as passed,
       coalesce(body #>> '{apiCheckResult,requestErrorCode}',
         body #>> '{tcpCheckResult,requestErrorCode}',
         body #>> '{dnsCheckResult,requestErrorCode}',
         body #>> '{icmpCheckResult,requestErrorCode}') as code,
       body #>> '{apiCheckResult,response,status}' as status
     from check_results
     where account_id = $1 and check_id = $2 and run_location <> $3
       and slot >= $5::timestamptz and slot <= $6::timestamptz
       and created_at >= $5::timestamptz and created_at < $7::timestamptz
       and result_type = 'FINAL' and not has_errors
       and not coalesce((body -> 'isCancelled')::boolean, false)
     order by run_location, abs(extract(epoch from slot - $4::timestamptz)), slot desc
     limit $8::bigint`,
    [
      accountId,
      checkId,
      location,
      new Date(slotMs),
      new Date(slotMs - withinMs),
      new Date(slotMs + withinMs),
      new Date(slotMs + withinMs + LATE_MS),
      limit,
    ],
  );
  return rows.map(({ slot, ...row }) => ({ ...row, slotMs: slot.getTime() }));
}

/** Another check of the same host. */
export interface Neighbour {
  readonly id: string;
  readonly name: string;
  readonly checkType: string;
  readonly failing: boolean;
  /** The slot of its last run. */
  readonly slotMs: number;
}

/**
 * Other activated checks of the same host that last ran in the period, failing ones first.
 */
export async function neighboursOf(
  sql: Sql,
  { accountId, checkId }: OfCheck,
  {
    fromMs,
    toMs,
    limit,
  }: { readonly fromMs: number; readonly toMs: number; readonly limit: number },
): Promise<readonly Neighbour[]> {
  const rows = await sql.query<Omit<Neighbour, 'slotMs'> & { readonly slot: Date }>(
    `select c.id, c.name, c.check_type, s.has_failures as failing, s.last_slot as slot
     from checks c join check_statuses s on s.account_id = c.account_id and s.check_id = c.id
     left join check_groups g on g.id = c.group_id
     where c.account_id = $1 and c.id <> $2 and not s.has_errors
       and c.activated and coalesce(g.activated, true)
       and s.last_slot between $3::timestamptz and $5::timestamptz
       and monitored_host(c.body) = (
         select monitored_host(o.body) from checks o where o.account_id = $1 and o.id = $2)
     order by s.has_failures desc, c.id
     limit $4::bigint`,
    [accountId, checkId, new Date(fromMs), limit, new Date(toMs)],
  );
  return rows.map(({ slot, ...row }) => ({ ...row, slotMs: slot.getTime() }));
}
