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
  -- Rises whenever this release writes the row. null: the columns above are outdated and have to be read
  -- from the results.
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
