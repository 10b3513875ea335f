-- That a check began to flap, or is calm again. Null for any other alert. Not validated, since that would read the whole
-- table under a lock that keeps alerts waiting, and all rows are null.
alter table check_alerts add column flapping text,
  add constraint check_alerts_flapping check (flapping in ('started', 'ended')) not valid;

-- Notices of a channel that become one message: those of a location, a group or a tag within a window, and those of
-- degraded checks once a day.
alter table alert_channels
  add column group_by text check (group_by in ('LOCATION', 'GROUP', 'TAG')),
  -- Seconds.
  add column group_window integer not null default 20,
  add column degraded_digest_hour integer;

-- A delivery with a bundle_key waits until due_at for others of its channel with the same key. The first that is
-- claimed then carries the others: their bundle_id is its id, nobody claims them, and what becomes of it becomes of
-- them. Meanwhile they are `sending` under a lease of an hour, so that the previous release leaves them, too. What waits
-- for a digest does so until digest_at. The previous release does not know that column and goes by due_at, which is the
-- time of the notice: later notices of the check would wait there for the digest.
alter table alert_deliveries
  add column bundle_key text,
  add column bundle_id text,
  add column digest_at timestamptz;
