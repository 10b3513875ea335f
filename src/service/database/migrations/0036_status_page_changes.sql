-- Tells replicas which account's status pages changed, so that they keep rendered ones until then. Changes
-- of checks and incidents are events, which have their own channel (0025_events.sql).
create function notify_status_page_change() returns trigger language plpgsql as $$
begin
  -- PostgreSQL sends equal notifications of a transaction once.
  perform pg_notify('vedette_status_pages', coalesce(new.account_id, old.account_id));
  return null;
end $$;

create trigger status_pages_change after insert or update or delete on status_pages
  for each row execute function notify_status_page_change();
create trigger status_page_cards_change after insert or update or delete on status_page_cards
  for each row execute function notify_status_page_change();
create trigger status_page_services_change after insert or update or delete on status_page_services
  for each row execute function notify_status_page_change();
create trigger status_page_incident_services_change
  after insert or update or delete on status_page_incident_services
  for each row execute function notify_status_page_change();
create trigger status_page_incident_updates_change
  after insert or update or delete on status_page_incident_updates
  for each row execute function notify_status_page_change();
create trigger maintenance_windows_change after insert or update or delete on maintenance_windows
  for each row execute function notify_status_page_change();
create trigger heartbeats_change after update on heartbeats
  for each row when (new.failing_since is distinct from old.failing_since)
  execute function notify_status_page_change();
