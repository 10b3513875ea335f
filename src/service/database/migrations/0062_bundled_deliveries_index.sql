-- In a file of its own: it takes a while, and channels are read and written meanwhile.
-- The deliveries of a channel that wait for others with their key, and those that another one carries.
create index alert_deliveries_bundle_key on alert_deliveries (account_id, channel_id, bundle_key, seq)
  where finished_at is null and bundle_key is not null;
create index alert_deliveries_bundle on alert_deliveries (bundle_id) where bundle_id is not null;
-- By when each may be sent. The previous release goes by due_at alone, with an index of its own.
create index alert_deliveries_ready on alert_deliveries (greatest(due_at, digest_at), seq) where finished_at is null;
