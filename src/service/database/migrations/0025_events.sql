-- Changes of an account for GET /v1/events: src/service/events/README.md.
create table events (
  account_id text not null,
  list_position bigint not null default next_list_position(),
  id bigint generated always as identity,
  kind text not null,
  resource_id text not null,
  data jsonb not null,
  at timestamptz not null default clock_timestamp(),
  -- No reference to accounts: the deletion of an account deletes its checks, which are events.
  primary key (account_id, list_position, id)
);
create index events_age on events (at);

-- The last event of an account that was deleted. A cursor before it has missed something.
create table event_floors (
  account_id text primary key,
  list_position bigint not null,
  id bigint not null
);

-- PostgreSQL sends equal notifications of a transaction once.
create function record_event(of_account text, of_kind text, of_resource text, of_data jsonb)
returns void language sql as $$
  insert into events (account_id, kind, resource_id, data)
  values (of_account, of_kind, of_resource, of_data);
  select pg_notify('vedette_events', of_account);
$$;

-- In triggers, so that no path that writes can forget it, in this release or the one before.
create function record_change_event() returns trigger language plpgsql as $$
begin
  perform record_event(
    coalesce(new.account_id, old.account_id),
    tg_argv[0] || case tg_op
      when 'INSERT' then '.created' when 'UPDATE' then '.updated' else '.deleted' end,
    coalesce(new.id, old.id)::text,
    '{}');
  return null;
end $$;

create trigger checks_event after insert or delete on checks
  for each row execute function record_change_event('check');
create trigger checks_update_event after update on checks for each row
  when ((new.name, new.body, new.activated, new.muted, new.tags, new.group_id)
    is distinct from (old.name, old.body, old.activated, old.muted, old.tags, old.group_id))
  execute function record_change_event('check');

create trigger private_locations_event after insert or delete on private_locations
  for each row execute function record_change_event('location');
create trigger private_locations_update_event after update on private_locations for each row
  when ((new.name, new.icon, new.proxy_url) is distinct from (old.name, old.icon, old.proxy_url))
  execute function record_change_event('location');

create trigger status_page_incidents_event after insert or delete on status_page_incidents
  for each row execute function record_change_event('incident');
create trigger status_page_incidents_update_event after update on status_page_incidents
  for each row when (new.* is distinct from old.*)
  execute function record_change_event('incident');

create trigger incidents_event after insert or delete on incidents
  for each row execute function record_change_event('dashboard_incident');
create trigger incidents_update_event after update on incidents
  for each row when (new.* is distinct from old.*)
  execute function record_change_event('dashboard_incident');

create function record_status_event() returns trigger language plpgsql as $$
begin
  perform record_event(new.account_id, 'check.status_changed', new.check_id, jsonb_build_object(
    'hasFailures', new.has_failures, 'hasErrors', new.has_errors, 'isDegraded', new.is_degraded));
  return null;
end $$;
create trigger check_statuses_event after insert on check_statuses
  for each row execute function record_status_event();
create trigger check_statuses_update_event after update on check_statuses for each row
  when ((new.has_failures, new.has_errors, new.is_degraded)
    is distinct from (old.has_failures, old.has_errors, old.is_degraded))
  execute function record_status_event();

create function record_alert_event() returns trigger language plpgsql as $$
begin
  perform record_event(new.account_id, 'alert.created', new.id, jsonb_build_object(
    'checkId', new.check_id, 'alertType', new.alert_type));
  return null;
end $$;
create trigger check_alerts_event after insert on check_alerts
  for each row execute function record_alert_event();
