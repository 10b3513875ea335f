-- The result whose run led to the alert: messages and pages link to it. Null for heartbeats, and for alerts
-- of earlier releases.
alter table check_alerts add column result_id text;
create index check_alerts_check on check_alerts (account_id, check_id, created_at desc, number desc);
-- The deliveries of an alert are listed.
create index alert_deliveries_alert on alert_deliveries (account_id, alert_id);
