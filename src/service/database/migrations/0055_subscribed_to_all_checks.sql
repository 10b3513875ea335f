-- Channels that are notified of all checks of the account. The release before notifies them only of the checks
-- that they have a subscription to.
alter table alert_channels add column subscribe_all boolean not null default false;

-- What a channel was last notified of a check: only who was notified of a problem is notified of its end.
create index alert_deliveries_of_check on alert_deliveries (account_id, check_id, channel_id, seq);
