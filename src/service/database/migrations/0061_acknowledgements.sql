-- Who took an alert: {by: {kind, id, name}, atMs}; null for nobody. The state of the check has the same for
-- the engine.
alter table check_alerts add column acknowledgement jsonb;

-- Where alerts go that nobody acknowledges: {minutes, alertChannelIds}; null for nowhere. Beside the settings,
-- since the release before refuses settings with a field that it does not know.
alter table account_alert_settings add column escalation_step jsonb;

-- Besides the notice itself and its reminders, a channel is told who took the alert. The id of a delivery says
-- that it is stored once.
alter table alert_deliveries
  drop constraint if exists alert_deliveries_account_id_channel_id_alert_id_reminder_key;

create function record_acknowledgement_event() returns trigger language plpgsql as $$
begin
  perform record_event(new.account_id,
    case when new.acknowledgement is null then 'alert.unacknowledged' else 'alert.acknowledged' end,
    new.id, jsonb_build_object('checkId', new.check_id, 'alertType', new.alert_type));
  return null;
end $$;
create trigger check_alerts_acknowledgement_event after update on check_alerts for each row
  when (new.acknowledgement is distinct from old.acknowledgement)
  execute function record_acknowledgement_event();
