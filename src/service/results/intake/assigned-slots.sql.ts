import type { RotationRule } from '../../../model/schedule/rotation.ts';
import type { Sql } from '../../database/port.ts';

/** Slots of a check that a location was given, over one stretch of time. */
export interface AssignedSlots {
  readonly checkId: string;
  /** null: any instant. So it is for the time before the history was kept. */
  readonly rule: RotationRule | null;
  /** Epoch milliseconds, by the database's clock. */
  readonly sinceMs: number;
  /** null while the location has the check. */
  readonly untilMs: number | null;
}

/** All that the location was given of these checks, as far back as results are kept. */
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
  return rows.map((row) => ({
    checkId: row.checkId,
    rule: ruleOf(row.periodMs, row.phaseMs, row.stride, row.strideIndex),
    sinceMs: row.since.getTime(),
    untilMs: row.until === null ? null : row.until.getTime(),
  }));
}

function ruleOf(
  periodMs: number | null,
  phaseMs: number | null,
  stride: number | null,
  index: number | null,
): RotationRule | null {
  if (periodMs === null || phaseMs === null || stride === null || index === null) return null;
  return { periodMs, phaseMs, stride, index };
}

/**
 * Removes what ended, or was replaced by another rule, before the instant; as many rows as the limit
 * at most.
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
