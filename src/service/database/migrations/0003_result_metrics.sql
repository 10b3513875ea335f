-- What analytics read of results: narrow rows beside them.

-- One row for each run that judged its target, written with its FINAL. The whole results are a
-- hundred times as wide, and those of one check lie scattered among those of all others; the key
-- here has every column, so that a check's time is one range of an index, and nothing else is read.
-- A measure that the check's type does not have, or that the run did not come to, is null.
create table result_metrics (
  account_id text not null,
  check_id text not null,
  slot timestamptz not null,
  -- 64 bits of the SHA-256 of the run's sequence_id: a location may make a slot's run of its own
  -- and the retry of another location's.
  run_key bigint not null,
  run_location text not null,
  -- Degraded counts as passed.
  passed boolean not null,
  -- null where no response came, and of checks without HTTP.
  status_code smallint,
  retries smallint not null,
  -- Milliseconds, but for packet_loss, which is percent.
  response_time double precision,
  wait double precision,
  dns double precision,
  tcp double precision,
  first_byte double precision,
  download double precision,
  data double precision,
  packet_loss double precision,
  latency_min double precision,
  latency_max double precision,
  latency_avg double precision,
  latency_std_dev double precision,
  primary key (account_id, check_id, slot, run_key) include (
    run_location, passed, status_code, retries, response_time, wait, dns, tcp, first_byte,
    download, data, packet_loss, latency_min, latency_max, latency_avg, latency_std_dev)
) partition by range (slot);

-- As before, for check_results and result_metrics alike; the number is of those of check_results.
create or replace function make_result_partitions(first_day date, last_day date) returns integer
language plpgsql as $$
declare
  home text := (select relnamespace::regnamespace::text from pg_class
                where oid = 'check_results'::regclass);
  day date;
  parent text;
  partition text;
  settings text;
  made integer := 0;
begin
  -- Two that make the same one at once would collide.
  perform pg_advisory_xact_lock(7236530118);
  for day in select generate_series(first_day, last_day, interval '1 day')::date loop
    foreach parent in array array['check_results', 'result_metrics'] loop
      partition := parent || '_' || to_char(day, 'YYYYMMDD');
      continue when to_regclass(format('%s.%I', home, partition)) is not null;
      -- Only pages that were vacuumed since their last row came are left alone by a read of the
      -- index. By default the last fifth of a day would never be.
      settings := case parent when 'result_metrics' then
        'with (autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 2000)'
        else '' end;
      execute format('create table %s.%I (like %s including defaults including constraints) %s',
        home, partition, parent, settings);
      execute format('alter table %s attach partition %s.%I for values from (%L) to (%L)', parent,
        home, partition, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC');
      if parent = 'check_results' then
        made := made + 1;
      end if;
    end loop;
  end loop;
  return made;
end $$;

-- As before, with the same day's partition of result_metrics.
create or replace function drop_oldest_result_partition(retention_days integer, today date)
returns text
language plpgsql as $$
declare
  oldest text;
  partition text;
  dropped text;
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
  return dropped;
end $$;

-- For the results that are there: those that the intake would have told of.
select make_result_partitions(day, day)
from (
  select to_date(right(relname, 8), 'YYYYMMDD') as day
  from pg_inherits join pg_class on pg_class.oid = inhrelid
  where inhparent = 'check_results'::regclass and relname ~ '^check_results_[0-9]{8}$'
) as days;

insert into result_metrics (account_id, check_id, slot, run_key, run_location, passed, status_code,
  retries, response_time, wait, dns, tcp, first_byte, download, data, packet_loss, latency_min,
  latency_max, latency_avg, latency_std_dev)
select account_id, check_id, slot,
  ('x' || encode(substr(sha256(convert_to(coalesce(sequence_id, id), 'UTF8')), 1, 8), 'hex'))
    ::bit(64)::bigint,
  run_location, not has_failures, (http #>> '{response,status}')::smallint, attempts,
  case when check_type <> 'ICMP' then response_time end,
  (phases ->> 'wait')::float8, (phases ->> 'dns')::float8,
  coalesce(phases ->> 'tcp', phases ->> 'connection')::float8,
  (phases ->> 'firstByte')::float8, (phases ->> 'download')::float8, (phases ->> 'data')::float8,
  (icmp ->> 'packetLoss')::float8, (icmp #>> '{latency,min}')::float8,
  (icmp #>> '{latency,max}')::float8, (icmp #>> '{latency,avg}')::float8,
  (icmp #>> '{latency,stdDev}')::float8
from check_results
  cross join lateral (select body -> 'apiCheckResult' as http,
    body #> '{icmpCheckResult,response}' as icmp) as details
  cross join lateral (select coalesce(nullif(http #> '{response,timingPhases}', 'null'),
    http -> 'timingPhases', body #> '{tcpCheckResult,timingPhases}') as phases) as phases
where result_type = 'FINAL' and not has_errors and not coalesce((body -> 'isCancelled')::boolean, false)
on conflict do nothing;
