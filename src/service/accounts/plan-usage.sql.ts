import type { PlanLimit } from '../../model/account/plan.ts';
import type { Sql } from '../database/port.ts';

/** Of what a plan counts, the table and which of its rows. */
const COUNTED: Readonly<Record<PlanLimit, string>> = {
  checks: `checks where check_type <> 'HEARTBEAT' and account_id = $1`,
  heartbeats: `checks where check_type = 'HEARTBEAT' and account_id = $1`,
  checkGroups: 'check_groups where account_id = $1',
  privateLocations: 'private_locations where account_id = $1',
  alertChannels: 'alert_channels where account_id = $1',
  maintenanceWindows: 'maintenance_windows where account_id = $1',
  statusPages: 'status_pages where account_id = $1',
  clientCertificates: 'client_certificates where account_id = $1',
  snippets: 'snippets where account_id = $1',
  variables: 'variables where account_id = $1',
};

/** How many of a thing an account has; past `upTo` they are not counted. */
export async function countOfPlan(
  sql: Sql,
  {
    accountId,
    resource,
    upTo,
  }: { readonly accountId: string; readonly resource: PlanLimit; readonly upTo: number },
): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    `select count(*)::int as count from (select from ${COUNTED[resource]} limit $2::bigint) counted`,
    [accountId, upTo],
  );
  return row?.count ?? 0;
}
