import type { RotationRule } from '../../../model/schedule/rotation.ts';
import type { Sql } from '../../database/store.ts';

/** Slots of a check that a location was assigned, over one period of time. */
export interface AssignedSlots {
  readonly checkId: string;
  /** null: any instant, for the time before the history was recorded. */
  readonly rule: RotationRule | null;
  /** Epoch milliseconds, by the database's clock. */
  readonly sinceMs: number;
  /** null while the location has the check. */
  readonly untilMs: number | null;
}

/**
 * Lists all slots of these checks that the location was assigned, as far back as results are retained. There is
 * one row for each rule that the check has had, so their number is limited by its changes.
 */
export async function listAssignedSlots(
  sql: Sql,
  { locationId, checkIds }: { readonly locationId: string; readonly checkIds: readonly string[] },
): Promise<readonly AssignedSlots[]> {
  if (checkIds.length === 0) return [];
  const rows = await sql.query<{
    checkId: string;
    periodMs: number | null;
    phaseMs: number | null;
    stride: number | null;
    strideIndex: number | null;
    since: Date;
    until: Date | null;
  }>(
    `select check_id, period_ms, phase_ms, stride, stride_index, since, until
     from assigned_slots where location_id = $1 and check_id = any($2::text[])`,
    [locationId, checkIds],
  );
  return rows.map(({ checkId, periodMs, phaseMs, stride, strideIndex: index, since, until }) => {
    const isAny = periodMs === null || phaseMs === null || stride === null || index === null;
    return {
      checkId,
      rule: isAny ? null : { periodMs, phaseMs, stride, index },
      sinceMs: since.getTime(),
      untilMs: until?.getTime() ?? null,
    };
  });
}

/** The slots of a check that a location had by one rule. */
export interface AssignedRule {
  readonly checkId: string;
  readonly rule: RotationRule;
  /** Epoch milliseconds, by the database's clock. */
  readonly sinceMs: number;
  /** When the location lost the check, or got it by another rule; null while the rule applies. */
  readonly endMs: number | null;
}

/** `s` is a rule that had not ended at $3, of a check that has slots in the location. */
const IS_RULE_AFTER = `s.period_ms is not null
  and coalesce(least(s.until, s.replaced_at) > $3::timestamptz, true)
  and not exists (select from assignments a where a.location_id = s.location_id
    and a.check_id = s.check_id and a.unassigned_reason = 'too_many_locations')`;

/**
 * Lists the rules that had not ended at an instant, for the next checks of a location in the order of their
 * ids. Omits checks without slots in the location.
 *
 * @returns `lastOfPage` is the id of the last check; null if there are no more
 */
export async function listAssignedRules(
  sql: Sql,
  {
    locationId,
    afterCheckId,
    endedAfterMs,
    checks,
  }: {
    readonly locationId: string;
    readonly afterCheckId: string;
    readonly endedAfterMs: number;
    readonly checks: number;
  },
): Promise<{ readonly rules: readonly AssignedRule[]; readonly lastOfPage: string | null }> {
  const rows = await sql.query<{
    checkId: string;
    periodMs: number;
    phaseMs: number;
    stride: number;
    strideIndex: number;
    since: Date;
    endedAt: Date | null;
  }>(
    // Materialized, so that the index is read only for the page.
    `with page as materialized (
       select distinct s.check_id from assigned_slots s
       where s.location_id = $1 and s.check_id > $2 and ${IS_RULE_AFTER}
       order by s.check_id limit $4::int + 1
     )
     select s.check_id, s.period_ms, s.phase_ms, s.stride, s.stride_index, s.since,
       least(s.until, s.replaced_at) as ended_at
     from page join assigned_slots s on s.location_id = $1 and s.check_id = page.check_id
     where ${IS_RULE_AFTER}
     order by s.check_id, s.since`,
    [locationId, afterCheckId, new Date(endedAfterMs), checks],
  );
  const ids = [...new Set(rows.map(({ checkId }) => checkId))];
  const page = new Set(ids.slice(0, checks));
  return {
    rules: rows.flatMap((row) => {
      const { checkId, periodMs, phaseMs, stride, strideIndex: index, since, endedAt } = row;
      if (!page.has(checkId)) return [];
      const rule = { periodMs, phaseMs, stride, index };
      return [{ checkId, rule, sinceMs: since.getTime(), endMs: endedAt?.getTime() ?? null }];
    }),
    lastOfPage: ids.length > checks ? (ids[checks - 1] ?? null) : null,
  };
}

/**
 * Deletes up to `limit` rows of checks that their location lost before the instant. Keeps replaced rules while
 * the location has the check: an agent without contact continues with the rule that it knows, for any time.
 *
 * @returns how many
 */
export async function deleteAssignedSlotsBefore(
  sql: Sql,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<number> {
  const rows = await sql.query(
    // The first condition is that of the index.
    `delete from assigned_slots where ctid = any (array(
       select ctid from assigned_slots
       where coalesce(until, replaced_at) < $1::timestamptz and until < $1::timestamptz
       limit $2::bigint))
     returning 1`,
    [new Date(beforeMs), limit],
  );
  return rows.length;
}
