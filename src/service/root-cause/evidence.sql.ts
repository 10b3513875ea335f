import type { Sql } from '../database/port.ts';

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

const DAY_MS = 86_400_000;
/** A retry that was handed over, or a spool: results are made some time after their slot. */
const LATE_MS = DAY_MS;

/**
 * The latest FINAL that failed.
 *
 * @param errorGroupId of that group alone; null for any
 * @param newest how many of the latest failures are looked at for the group
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

/** A run that passed, as far as a failure is compared with it. */
export interface PassedRun {
  readonly slotMs: number;
  readonly responseTimeMs: number;
  /** As the result has them. */
  readonly phases: unknown;
  readonly address: string | null;
  readonly status: string | null;
  /** Of the certificate that the server showed. */
  readonly fingerprint: string | null;
  readonly issuer: string | null;
}

/** The latest runs before this one that passed, in the same location; the latest first. */
export async function passedBefore(
  sql: Sql,
  { accountId, checkId, location, slotMs }: RunLocation,
  { withinMs, limit }: { readonly withinMs: number; readonly limit: number },
): Promise<readonly PassedRun[]> {
  const rows = await sql.query<{
    slot: Date;
    responseTime: number | null;
    phases: unknown;
    address: string | null;
    status: string | null;
    fingerprint: string | null;
    issuer: string | null;
  }>(
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
  return rows.map((row) => ({
    slotMs: row.slot.getTime(),
    responseTimeMs: row.responseTime ?? 0,
    phases: row.phases,
    address: row.address,
    status: row.status,
    fingerprint: row.fingerprint,
    issuer: row.issuer,
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

/** How the check did in another location about the same time. */
export interface OtherLocation {
  readonly location: string;
  readonly slotMs: number;
  readonly passed: boolean;
  readonly code: string | null;
  readonly status: string | null;
}

/** The run of each other location that is nearest to this one, as far as there is one near it. */
export async function otherLocations(
  sql: Sql,
  { accountId, checkId, location, slotMs }: RunLocation,
  { withinMs, limit }: { readonly withinMs: number; readonly limit: number },
): Promise<readonly OtherLocation[]> {
  const rows = await sql.query<{
    runLocation: string;
    slot: Date;
    hasFailures: boolean;
    code: string | null;
    status: string | null;
  }>(
    `select distinct on (run_location) run_location, slot, has_failures,
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
  return rows.map((row) => ({
    location: row.runLocation,
    slotMs: row.slot.getTime(),
    passed: !row.hasFailures,
    code: row.code,
    status: row.status,
  }));
}

/** Another check of the same host, and how it does. */
export interface Neighbour {
  readonly id: string;
  readonly name: string;
  readonly checkType: string;
  readonly failing: boolean;
  /** Of the run that says so. */
  readonly slotMs: number;
}

/**
 * Other activated checks of the host that the check is about which last ran in the span; failing
 * ones first.
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
  const rows = await sql.query<{
    id: string;
    name: string;
    checkType: string;
    hasFailures: boolean;
    lastSlot: Date;
  }>(
    `select c.id, c.name, c.check_type, s.has_failures, s.last_slot
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
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    checkType: row.checkType,
    failing: row.hasFailures,
    slotMs: row.lastSlot.getTime(),
  }));
}
