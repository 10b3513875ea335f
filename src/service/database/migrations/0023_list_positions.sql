-- Cursors of lists: src/service/database/README.md, "Cursors". A row's position is the number of the
-- transaction that stored it. 2^42 transactions belong to each epoch; a new one begins where a database
-- was restored in another cluster, which counts its transactions from the start.

create table list_epochs (
  epoch bigint primary key,
  -- Of the cluster. The timeline changes when a standby takes over and when a backup is restored.
  system_identifier text not null,
  timeline bigint not null,
  began_at timestamptz not null default now()
);
do $$
begin
  insert into list_epochs (epoch, system_identifier, timeline)
  select 0, system_identifier::text, timeline_id from pg_control_system(), pg_control_checkpoint();
exception when insufficient_privilege then
  -- The start of the service says which grants it needs.
  insert into list_epochs (epoch, system_identifier, timeline) values (0, '', 0);
end $$;

-- The service makes both functions anew for a new epoch.
create function next_list_position() returns bigint language sql volatile as
  'select (0::bigint << 42) + pg_current_xact_id()::text::bigint';
-- All transactions before it have ended. Stable, so that it sees what the statement sees.
create function list_horizon() returns bigint language sql stable as
  'select (0::bigint << 42) + pg_snapshot_xmin(pg_current_snapshot())::text::bigint';

-- First the constant 0 for the rows that exist, which rewrites no table. In the order in which the release
-- before locks them; results follow in a file of their own.
do $$
declare
  listed text;
begin
  foreach listed in array array[
    'agents', 'private_locations', 'checks', 'root_cause_analyses', 'error_groups', 'missed_slots',
    'check_alerts', 'alert_channels', 'alert_deliveries', 'heartbeat_events', 'status_pages',
    'status_page_services', 'status_page_incidents', 'incidents', 'test_sessions',
    'test_session_results', 'check_groups', 'maintenance_windows', 'variables', 'client_certificates',
    'snippets', 'location_keys', 'api_keys', 'agent_errors'
  ] loop
    execute format('alter table %I add column list_position bigint not null default 0', listed);
    execute format(
      'alter table %I alter column list_position set default next_list_position()', listed);
  end loop;
end $$;
