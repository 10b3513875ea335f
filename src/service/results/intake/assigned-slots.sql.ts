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

/** All slots of these checks that the location was assigned, as far back as results are retained. */
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

/**
 * Deletes up to `limit` rows that ended, or were replaced by another rule, before the instant.
 *
 * @returns how many
 */
export async function deleteAssignedSlotsBefore(
  sql: Sql,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<number> {
  const rows = await sql.query(
    `delete from assigned_slots where ctid = any (array(
       select ctid from assigned_slots where coalesce(until, replaced_at) < $1::timestamptz
       limit $2::bigint))
     returning 1`,
    [new Date(beforeMs), limit],
  );
  return rows.length;
}
