-- How long heartbeats failed, by the hour, for their availability: their events are kept for RETENTION_DAYS only.
-- Triggers write it, so that pings that the release before takes count, too.

-- The first ping, or this upgrade: nothing is known of the time before.
alter table heartbeats add column watched_since timestamptz;
update heartbeats set watched_since = now() where last_ping_at is not null;

create table heartbeat_downtime (
  account_id text not null,
  check_id text not null,
  -- Its start, in UTC.
  hour timestamptz not null,
  -- Of failures that are over: one that lasts is in heartbeats.failing_since.
  down_ms integer not null,
  primary key (account_id, check_id, hour),
  foreign key (account_id, check_id)
    references heartbeats (account_id, check_id) on delete cascade
);
create index heartbeat_downtime_hour on heartbeat_downtime (hour);

create function begin_heartbeat_watch() returns trigger language plpgsql as $$
begin
  new.watched_since := new.last_ping_at;
  return new;
end $$;

create trigger heartbeats_watch before update on heartbeats
  for each row when (new.watched_since is null and new.last_ping_at is not null)
  execute function begin_heartbeat_watch();

create function count_heartbeat_downtime() returns trigger language plpgsql as $$
begin
  insert into heartbeat_downtime as d (account_id, check_id, hour, down_ms)
  select new.account_id, new.check_id, span.hour,
    round(extract(epoch from span.until - span.since) * 1000)::integer
  from (
    select hour, greatest(hour, began) as since,
      least(hour + interval '1 hour', new.last_ping_at) as until
    -- Bounds how many hours a ping writes.
    from (select greatest(old.failing_since, new.last_ping_at - interval '400 days') as began) failure
      cross join lateral generate_series(date_trunc('hour', began, 'UTC'), new.last_ping_at,
        interval '1 hour') as hour
  ) as span
  where span.until > span.since
  on conflict (account_id, check_id, hour)
    do update set down_ms = least(3600000, d.down_ms + excluded.down_ms);
  return null;
end $$;

create trigger heartbeats_recovery after update on heartbeats
  for each row when (old.failing_since is not null and new.failing_since is null)
  execute function count_heartbeat_downtime();
