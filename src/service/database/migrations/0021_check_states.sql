-- The state of each check, and since when.

-- null while the check is activated, and where it was deactivated before this column.
alter table checks add column paused_since timestamptz;
alter table check_groups add column paused_since timestamptz;

-- In triggers, so that no path that deactivates can forget it, in this release or the one before.
create function note_paused() returns trigger
language plpgsql as $$
begin
  if new.activated then
    new.paused_since := null;
  elsif tg_op = 'INSERT' then
    new.paused_since := new.created_at;
  elsif old.activated then
    new.paused_since := coalesce(new.updated_at, now());
  end if;
  return new;
end $$;
create trigger checks_paused before insert or update of activated on checks
  for each row execute function note_paused();
create trigger check_groups_paused before insert or update of activated on check_groups
  for each row execute function note_paused();

alter table check_statuses
  -- That of the runs of state_slot; null: no run judged the check.
  add column state text check (state in ('passing', 'degraded', 'failing')),
  add column since timestamptz,
  add column state_slot timestamptz,
  -- The same as of the slots before state_slot.
  add column state_before text check (state_before in ('passing', 'degraded', 'failing')),
  add column since_before timestamptz,
  -- The earliest slot after last_slot whose result came too late to decide the status.
  add column skipped_slot timestamptz,
  -- Rises with each change of the columns above. null: they are outdated and have to be read from the
  -- results.
  add column state_version bigint,
  -- Of the last run that failed.
  add column last_error_code text,
  add column last_error_message text,
  add column last_error_location text,
  add column last_error_slot timestamptz,
  -- Of the run that decides the status, in milliseconds.
  add column last_response_time double precision;
create index check_statuses_outdated on check_statuses (account_id) where state_version is null;

-- The release before writes statuses without the state.
create function note_outdated_state() returns trigger
language plpgsql as $$
begin
  new.state_version := null;
  return new;
end $$;
create trigger check_statuses_outdated before update on check_statuses for each row
  when (new.state_version is not distinct from old.state_version)
  execute function note_outdated_state();

-- Where a check left a state: few of its results are not passed. Only for partitions that are made from now
-- on, and those of days to come: to build it for the others would stop polls and results for minutes.
create index check_results_not_passed on only check_results (account_id, check_id, slot desc)
  where result_type = 'FINAL' and (has_failures or is_degraded);
do $$
declare
  day regclass;
begin
  for day in select inhrelid::regclass from pg_inherits join pg_class on pg_class.oid = inhrelid
    where inhparent = 'check_results'::regclass
      and relname > 'check_results_' || to_char(now() at time zone 'UTC', 'YYYYMMDD')
  loop
    execute format('create index on %s (account_id, check_id, slot desc)
      where result_type = ''FINAL'' and (has_failures or is_degraded)', day);
  end loop;
end $$;
