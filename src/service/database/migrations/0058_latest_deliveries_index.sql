-- In a file of its own: it takes a while, and deliveries are claimed meanwhile.
-- The latest delivery of a channel that was sent or has failed.
create index alert_deliveries_latest on alert_deliveries (account_id, channel_id, finished_at desc, seq desc)
  where finished_at is not null;
