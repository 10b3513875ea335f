import type { Row, Sql } from '../database/port.ts';
import { jsonText } from '../database/values.ts';

export interface AgentErrorFields {
  /** Its class and code: TypeError, ECONNRESET. */
  readonly class: string;
  readonly code: string | null;
  readonly stack: readonly unknown[];
  readonly count: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
}

export interface AgentError {
  readonly id: number;
  readonly agentId: string;
  readonly version: string;
  readonly node: string;
  readonly platform: string;
  readonly arch: string;
  readonly class: string;
  readonly code: string | null;
  readonly stack: readonly unknown[];
  readonly count: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
  readonly receivedAt: Date;
}

interface OfLocation {
  readonly accountId: string;
  readonly locationId: string;
}

type ErrorRow = Row & {
  readonly id: number;
  readonly agentId: string;
  readonly version: string;
  readonly node: string;
  readonly platform: string;
  readonly arch: string;
  readonly class: string;
  readonly code: string | null;
  readonly stack: readonly unknown[];
  readonly count: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
  readonly receivedAt: Date;
};

/**
 * Times ahead of the database's clock count as now, as that of the receipt.
 *
 * @returns how many were stored: none where the location is gone
 */
export async function insertAgentErrors(
  sql: Sql,
  report: OfLocation & {
    readonly agentId: string;
    readonly version: string;
    readonly node: string;
    readonly platform: string;
    readonly arch: string;
    readonly errors: readonly AgentErrorFields[];
  },
): Promise<number> {
  const { accountId, locationId, agentId, version, node, platform, arch, errors } = report;
  const rows = errors.map((error) => ({
    class: error.class,
    code: error.code,
    stack: error.stack,
    count: error.count,
    first_at: new Date(error.firstAtMs).toISOString(),
    last_at: new Date(error.lastAtMs).toISOString(),
  }));
  const stored = await sql.query(
    `insert into agent_errors (account_id, location_id, agent_id, version, node, platform, arch,
       class, code, stack, count, first_at, last_at)
     select $1, l.id, $3, $4, $5, $6, $7, e.class, e.code, e.stack, least(e.count, 2147483647),
       least(e.first_at, e.last_at, now()), least(e.last_at, now())
     from private_locations l, jsonb_to_recordset($8::jsonb) as e(class text, code text,
       stack jsonb, count bigint, first_at timestamptz, last_at timestamptz)
     where l.account_id = $1 and l.id = $2 returning id`,
    [accountId, locationId, agentId, version, node, platform, arch, jsonText(rows)],
  );
  return stored.length;
}

/**
 * Keeps the newest errors of each agent, and of a location that has too many takes the oldest of the
 * agent that has most, again and again: no agent loses any that has no more than its equal share.
 */
export async function trimAgentErrors(
  sql: Sql,
  {
    accountId,
    locationId,
    keepOfEach,
    keep,
  }: OfLocation & { readonly keepOfEach: number; readonly keep: number },
): Promise<void> {
  await sql.query(
    `delete from agent_errors where account_id = $1 and location_id = $2 and id in (
       select id from (
         select id, of_agent, row_number() over (order by of_agent, id desc) as of_location
         from (
           select id, row_number() over (partition by agent_id order by id desc) as of_agent
           from agent_errors where account_id = $1 and location_id = $2) as each) as ranked
       where of_agent > $3::integer or of_location > $4::integer)`,
    [accountId, locationId, keepOfEach, keep],
  );
}

/** Newest first. */
export async function listAgentErrors(
  sql: Sql,
  {
    accountId,
    locationId,
    limit,
    offset,
  }: OfLocation & { readonly limit: number; readonly offset: number },
): Promise<readonly AgentError[]> {
  const rows = await sql.query<ErrorRow>(
    `select id, agent_id, version, node, platform, arch, class, code, stack, count, first_at,
       last_at, received_at
     from agent_errors where account_id = $1 and location_id = $2
     order by id desc limit $3::bigint offset $4::bigint`,
    [accountId, locationId, limit, offset],
  );
  return rows.map((row) => ({
    id: row.id,
    agentId: row.agentId,
    version: row.version,
    node: row.node,
    platform: row.platform,
    arch: row.arch,
    class: row.class,
    code: row.code,
    stack: row.stack,
    count: row.count,
    firstAt: row.firstAt,
    lastAt: row.lastAt,
    receivedAt: row.receivedAt,
  }));
}
