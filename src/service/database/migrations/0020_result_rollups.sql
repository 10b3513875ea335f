-- Roll-ups of result_metrics by quarter hour, hour and day: what analytics read of long windows.

-- Of the runs that passed, those that took longer than degradedResponseTime. The release before leaves it
-- null: not degraded.
alter table result_metrics add column degraded boolean;

-- Sums over the runs of a check in one location with one status. Sums are numeric: their digits do not depend
-- on the order in which they are added.
create table result_rollups (
  account_id text not null,
  check_id text not null,
  -- Minutes from `start`, which is a multiple of them since 1970 (UTC): 15, 60 or 1440.
  span smallint not null,
  start timestamptz not null,
  run_location text not null,
  -- 0 where no response came, and of checks without HTTP.
  status_code smallint not null,
  -- Degraded counts as passed.
  passed boolean not null,
  runs integer not null,
  degraded integer not null,
  retries integer not null,
  -- Of the runs that have the measure; null where none has it. Units as in result_metrics.
  response_time_count integer,
  response_time_sum numeric,
  response_time_min double precision,
  response_time_max double precision,
  wait_count integer,
  wait_sum numeric,
  wait_min double precision,
  wait_max double precision,
  dns_count integer,
  dns_sum numeric,
  dns_min double precision,
  dns_max double precision,
  tcp_count integer,
  tcp_sum numeric,
  tcp_min double precision,
  tcp_max double precision,
  first_byte_count integer,
  first_byte_sum numeric,
  first_byte_min double precision,
  first_byte_max double precision,
  download_count integer,
  download_sum numeric,
  download_min double precision,
  download_max double precision,
  data_count integer,
  data_sum numeric,
  data_min double precision,
  data_max double precision,
  packet_loss_count integer,
  packet_loss_sum numeric,
  packet_loss_min double precision,
  packet_loss_max double precision,
  latency_min_count integer,
  latency_min_sum numeric,
  latency_min_min double precision,
  latency_min_max double precision,
  latency_max_count integer,
  latency_max_sum numeric,
  latency_max_min double precision,
  latency_max_max double precision,
  latency_avg_count integer,
  latency_avg_sum numeric,
  latency_avg_min double precision,
  latency_avg_max double precision,
  latency_std_dev_count integer,
  latency_std_dev_sum numeric,
  latency_std_dev_min double precision,
  latency_std_dev_max double precision,
  primary key (account_id, check_id, span, start, run_location, status_code, passed)
) partition by range (span, start);

-- The slots of a check that were not run, by day (UTC); days without any have no row.
create table missed_days (
  account_id text not null,
  check_id text not null,
  start timestamptz not null,
  missed integer not null,
  primary key (account_id, check_id, start)
);
create index missed_days_start on missed_days (start);

-- The roll-ups that do not show what is stored. Whoever stores runs or missed slots marks them in the same
-- transaction. Also the release before does, by the triggers below.
create table rollup_marks (
  account_id text not null,
  check_id text not null,
  -- runs: the row of result_rollups with this span and start. missed: that of missed_days.
  kind text not null,
  span smallint not null,
  start timestamptz not null,
  -- When to compute it: soon after its end, so that it is computed once.
  due timestamptz not null,
  primary key (account_id, check_id, kind, span, start)
);
create index rollup_marks_due on rollup_marks (due);

-- Days of results from before roll-ups, and the last check whose day is rolled up.
create table rollup_backfill (
  day timestamptz primary key,
  account_id text not null default '',
  check_id text not null default ''
);

-- At most one row. All results before `results_from` were dropped: their roll-ups do not change any more.
create table rollup_state (
  singleton boolean primary key default true check (singleton),
  results_from timestamptz not null
);

-- A mark that is there is locked, not changed: it cannot be taken before this transaction has ended.
create function mark_rollups_of_runs() returns trigger
language plpgsql as $$
begin
  insert into rollup_marks (account_id, check_id, kind, span, start, due)
  select account_id, check_id, 'runs', 15, quarter, quarter + interval '17 minutes'
  from (
    select distinct account_id, check_id,
      date_bin('15 minutes', slot, timestamptz '1970-01-01T00:00:00Z') as quarter
    from added
  ) as quarters
  order by account_id, check_id, quarter
  on conflict (account_id, check_id, kind, span, start) do update set due = excluded.due where false;
  return null;
end $$;

create function mark_missed_days() returns trigger
language plpgsql as $$
begin
  insert into rollup_marks (account_id, check_id, kind, span, start, due)
  select account_id, check_id, 'missed', 1440, day, day + interval '24 hours 2 minutes'
  from (
    select distinct account_id, check_id, generate_series(
      date_bin('24 hours', slot, timestamptz '1970-01-01T00:00:00Z'), last_slot, '24 hours') as day
    from changed
  ) as days
  order by account_id, check_id, day
  on conflict (account_id, check_id, kind, span, start) do update set due = excluded.due where false;
  return null;
end $$;

create trigger runs_added after insert on result_metrics
  referencing new table as added for each statement execute function mark_rollups_of_runs();
create trigger missed_added after insert on missed_slots
  referencing new table as changed for each statement execute function mark_missed_days();
create trigger missed_extended after update on missed_slots
  referencing new table as changed for each statement execute function mark_missed_days();
create trigger missed_removed after delete on missed_slots
  referencing old table as changed for each statement execute function mark_missed_days();

-- Partitions for the roll-ups of these days: of quarter hours by day, from `quarters_from` on; of hours and
-- days by month.
create function make_rollup_partitions(first_day date, last_day date, quarters_from date) returns void
language plpgsql as $$
declare
  home text := (select relnamespace::regnamespace::text from pg_class
                where oid = 'result_rollups'::regclass);
  wanted record;
begin
  -- Two that make the same one at once would collide.
  perform pg_advisory_xact_lock(7236530118);
  for wanted in
    select 'result_rollups_15_' || to_char(day, 'YYYYMMDD') as name, 15 as span,
      day as from_at, day + interval '1 day' as to_at
    from generate_series(greatest(first_day, quarters_from)::timestamp, last_day::timestamp,
      interval '1 day') day
    union all
    select 'result_rollups_' || span || '_' || to_char(month, 'YYYYMM'), span,
      month, month + interval '1 month'
    from generate_series(date_trunc('month', first_day::timestamp), last_day::timestamp,
      interval '1 month') month cross join unnest(array[60, 1440]) span
  loop
    continue when to_regclass(format('%s.%I', home, wanted.name)) is not null;
    execute format('create table %s.%I (like result_rollups including defaults including constraints)',
      home, wanted.name);
    execute format('alter table result_rollups attach partition %s.%I for values from (%s, %L) to (%s, %L)',
      home, wanted.name, wanted.span, wanted.from_at at time zone 'UTC',
      wanted.span, wanted.to_at at time zone 'UTC');
  end loop;
end $$;

-- Drops one partition of roll-ups that all end before these days, and returns its name; null where there is
-- none.
create function drop_oldest_rollup_partition(quarters_from date, rollups_from date) returns text
language plpgsql as $$
declare
  dropped text;
begin
  perform pg_advisory_xact_lock(7236530118);
  select inhrelid::regclass::text into dropped
  from pg_inherits join pg_class on pg_class.oid = inhrelid
  where inhparent = 'result_rollups'::regclass
    and case
      when relname ~ '^result_rollups_15_[0-9]{8}$' then
        to_date(right(relname, 8), 'YYYYMMDD') < quarters_from
      when relname ~ '^result_rollups_(60|1440)_[0-9]{6}$' then
        to_date(right(relname, 6), 'YYYYMM') + interval '1 month' <= rollups_from
    end
  order by relname
  limit 1;
  if dropped is not null then
    execute 'drop table ' || dropped;
  end if;
  return dropped;
end $$;

-- As before, but a day whose roll-ups are not computed yet stays up to two days longer.
create or replace function drop_oldest_result_partition(retention_days integer, today date)
returns text
language plpgsql as $$
declare
  oldest text;
  partition text;
  dropped text;
  day date;
  day_start timestamptz;
begin
  -- Two at once would drop the same one.
  perform pg_advisory_xact_lock(7236530118);
  select right(relname, 8) into oldest
  from pg_inherits join pg_class on pg_class.oid = inhrelid
  where inhparent in ('check_results'::regclass, 'result_metrics'::regclass)
    and relname ~ '^(check_results|result_metrics)_[0-9]{8}$'
    and to_date(right(relname, 8), 'YYYYMMDD') < today - retention_days
  order by right(relname, 8)
  limit 1;
  if oldest is null then
    return null;
  end if;
  day := to_date(oldest, 'YYYYMMDD');
  day_start := day::timestamp at time zone 'UTC';
  if day >= today - retention_days - 2 and (
    exists (select from rollup_backfill b where b.day = day_start)
    or exists (select from rollup_marks m where m.kind = 'runs'
      and m.start >= day_start and m.start < day_start + interval '24 hours')
  ) then
    return null;
  end if;
  -- In the order in which the intake writes them, so that neither waits for the other for ever.
  for partition in
    select inhrelid::regclass::text
    from pg_inherits join pg_class on pg_class.oid = inhrelid
    where inhparent in ('check_results'::regclass, 'result_metrics'::regclass)
      and relname in ('check_results_' || oldest, 'result_metrics_' || oldest)
    order by relname
  loop
    execute 'drop table ' || partition;
    dropped := coalesce(dropped, partition);
  end loop;
  insert into rollup_state as s (results_from) values (day_start + interval '24 hours')
  on conflict (singleton) do update set results_from = greatest(s.results_from, excluded.results_from);
  delete from rollup_backfill b where b.day <= day_start;
  -- Nobody takes them while only the release before runs.
  delete from rollup_marks m where m.start < day_start - interval '7 days';
  return dropped;
end $$;

-- What is stored already. The service rolls up the results in the background.
insert into rollup_backfill (day)
select to_date(right(relname, 8), 'YYYYMMDD')::timestamp at time zone 'UTC'
from pg_inherits join pg_class on pg_class.oid = inhrelid
where inhparent = 'result_metrics'::regclass and relname ~ '^result_metrics_[0-9]{8}$';
