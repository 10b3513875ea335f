import type { Sql } from '../../database/port.ts';

interface OneAgent {
  readonly locationId: string;
  readonly agentId: string;
}

/**
 * How far the agent's clock is ahead of the service's, in milliseconds; below 0 it is behind. null
 * where the agent has not said, or is not known.
 */
export async function findClockAhead(
  sql: Sql,
  { locationId, agentId }: OneAgent,
): Promise<number | null> {
  const [row] = await sql.query<{ clockAheadMs: number | null }>(
    'select clock_ahead_ms from agents where location_id = $1 and id = $2',
    [locationId, agentId],
  );
  return row?.clockAheadMs ?? null;
}

/** Notes that the agent's clock is ahead by so much at least. Agents of older releases do not say. */
export async function noteClockAhead(
  sql: Sql,
  { locationId, agentId, aheadMs }: OneAgent & { readonly aheadMs: number },
): Promise<void> {
  await sql.query(
    `update agents set clock_ahead_ms = greatest(clock_ahead_ms, $3::bigint)
     where location_id = $1 and id = $2
       and clock_ahead_ms is distinct from greatest(clock_ahead_ms, $3::bigint)`,
    [locationId, agentId, aheadMs],
  );
}
