import type { ListRange } from '../database/lists/list-walk.ts';
import { NUMBER_ID, readList } from '../database/lists/lists.ts';
import type { Sql } from '../database/store.ts';
import { jsonText } from '../database/values.ts';

export type ReportedError = {
  /** Its class and code: TypeError, ECONNRESET. */
  readonly class: string;
  readonly code: string | null;
  readonly stack: readonly unknown[];
  readonly count: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
};

export type ReportingAgent = {
  readonly agentId: string;
  readonly version: string;
  readonly node: string;
  readonly platform: string;
  readonly arch: string;
};

export type AgentError = ReportedError &
  ReportingAgent & { readonly id: number; readonly receivedAt: Date };

interface OfLocation {
  readonly accountId: string;
  readonly locationId: string;
}

/**
 * Stores errors of an agent. Replaces times in the future by the current time of the database.
 *
 * @returns how many it stored; 0 where the location is deleted
 */
export async function insertAgentErrors(
  sql: Sql,
  report: OfLocation & ReportingAgent & { readonly errors: readonly ReportedError[] },
): Promise<number> {
  const { accountId, locationId, agentId, version, node, platform, arch, errors } = report;
  const stored = await sql.query(
    `insert into agent_errors (account_id, location_id, agent_id, version, node, platform, arch,
       class, code, stack, count, first_at, last_at)
     select $1, l.id, $3, $4, $5, $6, $7, e.class, e.code, e.stack, least(e.count, 2147483647),
       least(e."firstAt", e."lastAt", now()), least(e."lastAt", now())
     from private_locations l, jsonb_to_recordset($8::jsonb) as e(class text, code text,
       stack jsonb, count bigint, "firstAt" timestamptz, "lastAt" timestamptz)
     where l.account_id = $1 and l.id = $2 returning id`,
    [accountId, locationId, agentId, version, node, platform, arch, jsonText(errors)],
  );
  return stored.length;
}

/**
 * Retains the newest errors of each agent. Where the location has too many, deletes the oldest of the
 * agents with the most: no agent loses errors within its equal share of the limit.
 */
export async function trimAgentErrors(
  sql: Sql,
  {
    accountId,
    locationId,
    ofEachAgent,
    inAll,
  }: OfLocation & { readonly ofEachAgent: number; readonly inAll: number },
): Promise<void> {
  await sql.query(
    `delete from agent_errors where account_id = $1 and location_id = $2 and id in (
       select id from (
         select id, of_agent, row_number() over (order by of_agent, id desc) as of_location
         from (
           select id, row_number() over (partition by agent_id order by id desc) as of_agent
           from agent_errors where account_id = $1 and location_id = $2) as each) as ranked
       where of_agent > $3::integer or of_location > $4::integer)`,
    [accountId, locationId, ofEachAgent, inAll],
  );
}

/** Newest first. */
export async function listAgentErrors(
  sql: Sql,
  { accountId, locationId, ...range }: OfLocation & ListRange,
): Promise<readonly AgentError[]> {
  const list = {
    columns: `id, agent_id, version, node, platform, arch, class, code, stack, count, first_at,
       last_at, received_at`,
    from: 'agent_errors',
    where: 'account_id = $1 and location_id = $2',
    params: [accountId, locationId],
    order: 'id desc',
    id: NUMBER_ID,
  };
  return readList<AgentError>(sql, list, range);
}
