alter table check_results add column list_position bigint not null default 0;
alter table check_results alter column list_position set default next_list_position();

-- Only for partitions that are made from now on, and those of days to come: to build it for the others
-- would stop results for minutes. They go with their retention.
create index check_results_listed on only check_results (account_id, check_id, list_position);
do $$
declare
  day regclass;
begin
  for day in select inhrelid::regclass from pg_inherits join pg_class on pg_class.oid = inhrelid
    where inhparent = 'check_results'::regclass
      and relname > 'check_results_' || to_char(now() at time zone 'UTC', 'YYYYMMDD')
  loop
    execute format('create index on %s (account_id, check_id, list_position)', day);
  end loop;
end $$;
