-- Cursors of the lists of users and invitations: src/service/database/README.md, "Cursors". In the order in
-- which whoever accepts an invitation locks them.
alter table one_time_links add column list_position bigint not null default 0;
alter table one_time_links alter column list_position set default next_list_position();
alter table memberships add column list_position bigint not null default 0;
alter table memberships alter column list_position set default next_list_position();

-- Further kinds of events: src/service/README.md, "Events". 0025_events.sql has the functions and the first kinds.

create trigger check_groups_event after insert or delete on check_groups
  for each row execute function record_change_event('group');
create trigger check_groups_update_event after update on check_groups
  for each row when (new.* is distinct from old.*)
  execute function record_change_event('group');

-- Without sealed_secrets, which a new encryption key changes, too. updated_at stands for it.
create trigger alert_channels_event after insert or delete on alert_channels
  for each row execute function record_change_event('alert_channel');
create trigger alert_channels_update_event after update on alert_channels for each row
  when ((new.config, new.send_location_silent, new.logical_id, new.updated_at)
    is distinct from (old.config, old.send_location_silent, old.logical_id, old.updated_at))
  execute function record_change_event('alert_channel');

create trigger maintenance_windows_event after insert or delete on maintenance_windows
  for each row execute function record_change_event('maintenance_window');
create trigger maintenance_windows_update_event after update on maintenance_windows
  for each row when (new.* is distinct from old.*)
  execute function record_change_event('maintenance_window');

create trigger status_pages_event after insert or delete on status_pages
  for each row execute function record_change_event('status_page');
create trigger status_pages_update_event after update on status_pages
  for each row when (new.* is distinct from old.*)
  execute function record_change_event('status_page');

create trigger status_page_services_event after insert or delete on status_page_services
  for each row execute function record_change_event('status_page_service');
create trigger status_page_services_update_event after update on status_page_services
  for each row when (new.* is distinct from old.*)
  execute function record_change_event('status_page_service');

create function record_silence_event() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    perform record_event(new.account_id, 'location.silent', new.location_id,
      jsonb_build_object('since', to_char(new.since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')));
  -- The silence of a deleted location goes with it.
  elsif exists (select from private_locations where id = old.location_id) then
    perform record_event(old.account_id, 'location.recovered', old.location_id, '{}');
  end if;
  return null;
end $$;
create trigger silent_locations_event after insert or delete on silent_locations
  for each row execute function record_silence_event();

-- Retries of scheduled runs are no events: many may end at once.
create function record_run_event() returns trigger language plpgsql as $$
begin
  perform record_event(new.account_id, 'check_run.finished', new.id, jsonb_build_object(
    'checkId', new.check_id, 'state', new.state));
  return null;
end $$;
create trigger one_off_runs_event after update of state on one_off_runs for each row
  when (new.reason = 'requested' and new.state in ('done', 'expired') and new.state <> old.state)
  execute function record_run_event();

-- With the state by the runs, as in check-filter.sql.ts. Where the release before wrote the row, it follows
-- from the flags; that it is read from the results later is no change.
create or replace function record_status_event() returns trigger language plpgsql as $$
begin
  perform record_event(new.account_id, 'check.status_changed', new.check_id, jsonb_build_object(
    'state', case when new.has_errors or new.state_version is not null
        then coalesce(new.state, 'unknown')
      when new.has_failures then 'failing' when new.is_degraded then 'degraded' else 'passing' end,
    'hasFailures', new.has_failures, 'hasErrors', new.has_errors, 'isDegraded', new.is_degraded));
  return null;
end $$;
drop trigger check_statuses_update_event on check_statuses;
create trigger check_statuses_update_event after update on check_statuses for each row
  when ((new.has_failures, new.has_errors, new.is_degraded)
      is distinct from (old.has_failures, old.has_errors, old.is_degraded)
    or (old.state is not null and new.state is distinct from old.state))
  execute function record_status_event();
