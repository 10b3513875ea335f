import type { CaseFixture } from './fixture.ts';

const LOCATION = '(select slug from private_locations l where l.id = t.location_id)';
const SLOT = (column: string) => `round(extract(epoch from ${column}) * 1000)::bigint`;

/**
 * An account's final rows, without the differences between runs. `#` is a slot, counted from the
 * beginning of the case.
 */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  accounts: ['name'],
  agent_errors: ['agent_id', 'class', 'count'],
  agents: [LOCATION, 'id', 'lease_until is not null as held'],
  alert_channels: ['type'],
  alert_deliveries: [
    'check_id',
    'alert_type',
    'reminder',
    'state',
    'bundle_id is not null as carried',
  ],
  alert_ssl_told: ['check_id'],
  alert_subscriptions: ['check_id', 'activated'],
  api_keys: ['name', 'revoked_at is not null as revoked'],
  artifact_uploads: ['check_id', 'name'],
  artifacts: ['check_id', 'name', 'bytes'],
  assignments: [LOCATION, 'check_id', 'agent_id', 'unassigned_reason'],
  check_alert_states: ['check_id', 'condition', 'due_at is not null as due'],
  check_alerts: ['check_id', 'alert_type', 'run_location', 'acknowledgement is not null as taken'],
  check_group_run_checks: ['check_id', 'location', 'state', 'reason', 'verdict'],
  check_group_runs: ['group_name', 'state', 'verdict'],
  check_groups: ['name', 'activated', 'tags'],
  check_results: ['check_id', 'result_type', '# slot', 'has_failures', 'run_location', 'attempts'],
  check_trials: [LOCATION, 'check_type', 'state', 'reason', 'body is null as emptied'],
  check_statuses: ['check_id', 'has_failures', 'is_degraded'],
  checks: ['id', 'name', 'activated'],
  client_certificates: ['host'],
  error_groups: ['check_id', 'scope', 'occurrences', 'archive'],
  heartbeat_events: ['state'],
  heartbeats: ['failing_since is not null as failing'],
  incident_updates: ['status'],
  incidents: ['name', 'impact'],
  location_keys: [LOCATION, 'revoked_at is not null as revoked'],
  maintenance_windows: ['name'],
  memberships: ['role'],
  missed_slots: ['check_id', 'location', '# slot', '# last_slot', 'count', 'reason'],
  one_off_runs: [LOCATION, 'check_id', 'reason', 'state', 'retries_made'],
  one_time_links: ['kind', 'role'],
  private_locations: ['slug', 'name'],
  result_metrics: ['check_id', '# slot', 'run_location', 'passed'],
  root_cause_analyses: ['check_id', 'origin', 'state', '# slot'],
  silent_locations: [LOCATION],
  snippets: ['name', 'script'],
  status_page_cards: ['name', 'position'],
  status_page_incident_updates: ['status'],
  status_page_incidents: [
    'name',
    'severity',
    'last_update_status',
    'is_draft',
    'post_mortem',
    'check_id',
    'follows_check',
  ],
  status_page_service_checks: ['check_id', 'position'],
  status_page_services: ['name', 'failure_rule'],
  status_pages: ['name'],
  test_session_results: ['has_failures'],
  test_sessions: ['name', 'results', 'failed'],
  variables: ['key', 'value', 'secret'],
};

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** All rows of the account, as texts that are the same for each run with the same outcome. */
export async function rowsInTheEnd(
  fixture: CaseFixture,
  withoutSlots: boolean,
): Promise<readonly string[]> {
  const { startMs } = fixture;
  const selects = Object.entries(TABLES).map(([table, columns]) => {
    const shown = columns.filter((column) => !withoutSlots || !column.startsWith('# '));
    const values = shown.map((column, at) => {
      const isSlot = column.startsWith('# ');
      const value = isSlot ? `${SLOT(column.slice(2))} - ${startMs}` : column.split(' as ')[0];
      return `'${nameOf(column, at)}', ${value}`;
    });
    const owner = table === 'accounts' ? 'id' : 'account_id';
    return `select '${table} ' || json_build_object(${values.join(', ')})::text as row
      from ${table} t where t.${owner} = $1`;
  });
  const rows = await fixture.rows(selects.join(' union all '));
  return rows.map(({ row }) => String(row).replaceAll(UUID, 'an id')).sort();
}

function nameOf(column: string, at: number): string {
  if (column === LOCATION) return `location${at}`;
  return column.split(' as ').at(-1)?.replace('# ', '') ?? '';
}

/** The rows that only one side has, with their count. */
export function differences(
  wanted: readonly string[],
  found: readonly string[],
): readonly string[] {
  const counts = new Map<string, number>();
  for (const row of wanted) counts.set(row, (counts.get(row) ?? 0) + 1);
  for (const row of found) counts.set(row, (counts.get(row) ?? 0) - 1);
  return [...counts].flatMap(([row, count]) => {
    if (count === 0) return [];
    return [count > 0 ? `lost: ${row}` : `too many: ${row}`];
  });
}

/** Slots that are both run and missed, missed twice, or in two results; runs with two FINALs. */
const DOUBLES = `
  select 'a slot is run and missed: ' || r.check_id as wrong from check_results r
    join missed_slots m on m.account_id = r.account_id and m.check_id = r.check_id
      and m.location = r.run_location and r.slot between m.slot and m.last_slot
    where r.account_id = $1 and r.result_type = 'FINAL' and r.attempts = 0
      and (m.count = 1 or mod(round(extract(epoch from r.slot - m.slot) * 1000)::bigint,
        round(extract(epoch from m.last_slot - m.slot) * 1000)::bigint / (m.count - 1)) = 0)
  union all
  select 'a slot is missed twice: ' || a.check_id from missed_slots a
    join missed_slots b on b.account_id = a.account_id and b.check_id = a.check_id
      and b.location = a.location and b.slot > a.slot and b.slot <= a.last_slot
    where a.account_id = $1
  union all
  select 'a run has two FINALs: ' || check_id from check_results
    where account_id = $1 and result_type = 'FINAL'
    group by check_id, sequence_id having count(*) > 1
  union all
  select 'a result is stored twice: ' || check_id from check_results
    where account_id = $1 group by check_id, id having count(*) > 1
  union all
  select 'a run is given to somebody without a lease: ' || r.id from one_off_runs r
    where r.account_id = $1 and r.state = 'assigned' and not exists (
      select from agents a where a.location_id = r.location_id and a.id = r.agent_id
        and a.epoch >= r.agent_epoch)
  union all
  select 'a check is of an agent without a lease: ' || s.check_id from assignments s
    where s.account_id = $1 and s.agent_id is not null and not exists (
      select from agents a where a.location_id = s.location_id and a.id = s.agent_id
        and a.epoch = s.agent_epoch and a.lease_until is not null)
  union all
  select 'a notice is neither sent nor given up: ' || id from alert_deliveries
    where account_id = $1 and finished_at is null
  union all
  select 'two incidents are open for one check: ' || check_id from status_page_incidents
    where account_id = $1 and follows_check and last_update_status <> 'RESOLVED'
    group by check_id having count(*) > 1
  union all
  select 'a change of a location was never shared out' from location_changes c
    join private_locations l on l.id = c.location_id where l.account_id = $1`;

export async function contradictions(fixture: CaseFixture): Promise<readonly string[]> {
  const rows = await fixture.rows(DOUBLES);
  return rows.map(({ wrong }) => String(wrong));
}
