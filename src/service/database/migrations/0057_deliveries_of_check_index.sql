-- In a file of its own: it takes a while, and channels are read and written meanwhile.
-- What a channel was last notified of a check: only who was notified of a problem is notified of its end.
create index alert_deliveries_of_check on alert_deliveries (account_id, check_id, channel_id, seq);
