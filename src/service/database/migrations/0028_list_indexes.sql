-- In a file of its own: it takes a while, and agents poll and report meanwhile.
-- Other lists are short, or of one check.
create index checks_listed on checks (account_id, list_position);
create index check_alerts_listed on check_alerts (account_id, list_position);
create index alert_deliveries_listed on alert_deliveries (account_id, channel_id, list_position);
