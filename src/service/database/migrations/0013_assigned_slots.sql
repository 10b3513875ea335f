-- First what the release before locks first: `agents`, then `assignments`.
-- How far an agent's clock is ahead of the service's, in milliseconds; below 0 it is behind. null
-- where the agent has not said.
alter table agents add column clock_ahead_ms bigint;

-- A retry that nobody made in time goes back to where its run began. The location that it was given
-- to first may have made it nevertheless, and bring the result late.
alter table one_off_runs add column taken_from_location_id text;
-- They are kept as long as results, which are admitted by them.
create index one_off_runs_age on one_off_runs (created_at) where state in ('done', 'expired');

-- Which slots a location was given, kept as long as results: what its agents report is admitted by
-- this, and never by the times that they claim. One row for each rule of each stretch of time in
-- which the location had the check.
create table assigned_slots (
  location_id text not null references private_locations (id) on delete cascade,
  check_id text not null,
  -- The slots k · period_ms + phase_ms where k leaves stride_index when divided by stride. All null:
  -- any instant. Such a row stands for the time before this table.
  period_ms integer,
  phase_ms integer,
  stride integer,
  stride_index integer,
  since timestamptz not null,
  -- null while the location has the check.
  until timestamptz,
  -- When another rule took its place. An agent that is out of contact goes on with the rule that it
  -- knows, so a replaced rule counts until the location loses the check.
  replaced_at timestamptz
);
create unique index assigned_slots_open
  on assigned_slots (location_id, check_id, period_ms, phase_ms, stride, stride_index)
  where until is null;
create index assigned_slots_check on assigned_slots (location_id, check_id);
create index assigned_slots_age on assigned_slots ((coalesce(until, replaced_at)))
  where coalesce(until, replaced_at) is not null;

-- In triggers, so that no path that writes assignments can forget it, in this release or the one
-- before.
create function assigned_slots_began() returns trigger
language plpgsql as $$
begin
  insert into assigned_slots (location_id, check_id, period_ms, phase_ms, stride, stride_index, since)
  select location_id, check_id, period_ms, phase_ms, stride, stride_index, now() from added
  on conflict (location_id, check_id, period_ms, phase_ms, stride, stride_index) where until is null
    do nothing;
  return null;
end $$;
create trigger assigned_slots_began after insert on assignments
  referencing new table as added for each statement execute function assigned_slots_began();

create function assigned_slots_changed() returns trigger
language plpgsql as $$
begin
  update assigned_slots set replaced_at = now()
  where location_id = new.location_id and check_id = new.check_id and until is null
    and replaced_at is null;
  insert into assigned_slots (location_id, check_id, period_ms, phase_ms, stride, stride_index, since)
  values (new.location_id, new.check_id, new.period_ms, new.phase_ms, new.stride, new.stride_index,
    now())
  on conflict (location_id, check_id, period_ms, phase_ms, stride, stride_index) where until is null
    do update set replaced_at = null;
  return null;
end $$;
create trigger assigned_slots_changed after update on assignments for each row
  when ((new.period_ms, new.phase_ms, new.stride, new.stride_index)
    is distinct from (old.period_ms, old.phase_ms, old.stride, old.stride_index))
  execute function assigned_slots_changed();

create function assigned_slots_ended() returns trigger
language plpgsql as $$
begin
  update assigned_slots s set until = now()
  from removed
  where s.location_id = removed.location_id and s.check_id = removed.check_id and s.until is null;
  return null;
end $$;
create trigger assigned_slots_ended after delete on assignments
  referencing old table as removed for each statement execute function assigned_slots_ended();

insert into assigned_slots (location_id, check_id, period_ms, phase_ms, stride, stride_index, since)
select location_id, check_id, period_ms, phase_ms, stride, stride_index, now() from assignments;
