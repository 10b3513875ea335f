-- Checks that wait to be pinged. The check itself is a row of checks, with the type HEARTBEAT.
-- Whoever changes a row here holds the row of its check first.
create table heartbeats (
  account_id text not null,
  check_id text not null,
  -- Kept as it is: it is part of the URL that people read and copy at any time.
  ping_token text not null unique,
  period_ms bigint not null,
  grace_ms bigint not null,
  -- null before the first ping: until then nothing is expected.
  last_ping_at timestamptz,
  -- From when the period is counted: the last ping, or when what kept pings away was over.
  counted_from timestamptz,
  failing_since timestamptz,
  -- When it fails if no ping comes, or is looked at again; null where nothing is to come.
  due_at timestamptz,
  -- The event in which early pings are counted, and when it began; null where the last is another.
  early_event_id text,
  early_since timestamptz,
  primary key (account_id, check_id),
  foreign key (account_id, check_id) references checks (account_id, id) on delete cascade
);
create index heartbeats_due on heartbeats (due_at) where due_at is not null;

-- History: stays after its check until its time is up.
create table heartbeat_events (
  account_id text not null references accounts (id) on delete cascade,
  check_id text not null,
  id text not null,
  state text not null check (state in ('EARLY', 'RECEIVED', 'GRACE', 'LATE', 'FAILING')),
  at timestamptz not null,
  source text not null,
  user_agent text not null,
  -- How many it stands for.
  pings bigint not null,
  primary key (account_id, check_id, id)
);
create index heartbeat_events_newest on heartbeat_events (account_id, check_id, at desc, state);
create index heartbeat_events_age on heartbeat_events (at);

-- When any replica last could take pings: one row, for all. What is not told in time was an absence
-- of the service, in which pings were lost by no fault of those who sent them.
create table service_alive (
  is_alone boolean primary key default true check (is_alone),
  alive_at timestamptz not null
);

-- A whole period from the instant on, for what waits for pings.
create function count_heartbeats_anew(of_account text, check_ids text[], since timestamptz) returns void
language sql as $$
  update heartbeats set counted_from = greatest(counted_from, since),
    due_at = greatest(counted_from, since) + (period_ms + grace_ms) * interval '1 millisecond'
  where account_id = of_account and check_id = any(check_ids)
    and counted_from is not null and failing_since is null;
$$;

-- A heartbeat that was deactivated, by itself or with its group, is activated again. In triggers, so
-- that no path that writes checks or groups can forget it.
create function heartbeat_activated() returns trigger
language plpgsql as $$
declare
  was_active boolean := old.activated
    and coalesce((select activated from check_groups where id = old.group_id), true);
begin
  if not was_active and new.activated
      and coalesce((select activated from check_groups where id = new.group_id), true) then
    perform count_heartbeats_anew(new.account_id, array[new.id], coalesce(new.updated_at, now()));
  end if;
  return null;
end $$;
create trigger heartbeat_activated after update of activated, group_id on checks
  for each row when (new.check_type = 'HEARTBEAT'
    and (new.activated, new.group_id) is distinct from (old.activated, old.group_id))
  execute function heartbeat_activated();

create function heartbeats_of_group_activated() returns trigger
language plpgsql as $$
begin
  perform count_heartbeats_anew(new.account_id,
    (select coalesce(array_agg(id), '{}') from checks
     where group_id = new.id and activated and check_type = 'HEARTBEAT'),
    coalesce(new.updated_at, now()));
  return null;
end $$;
create trigger heartbeats_of_group_activated after update of activated on check_groups
  for each row when (new.activated and not old.activated)
  execute function heartbeats_of_group_activated();
