-- Runs of all checks of a group: src/service/README.md, "Runs of a group".
create table check_group_runs (
  id text primary key,
  account_id text not null references accounts (id) on delete cascade,
  -- As it was at the request. No reference: the run goes on if the group is deleted.
  group_id bigint not null,
  group_name text not null,
  -- The slug of the only location to run in; null for all.
  location text,
  concurrency integer not null,
  requested_by_kind text not null check (requested_by_kind in ('key', 'user')),
  requested_by_id text not null,
  state text not null default 'running' check (state in ('running', 'ended', 'cancelled')),
  -- null until it has ended.
  verdict text check (verdict in ('passed', 'degraded', 'failed', 'incomplete')),
  created_at timestamptz not null default now(),
  ended_at timestamptz
);
create index check_group_runs_open on check_group_runs (account_id) where state = 'running';
create index check_group_runs_age on check_group_runs (created_at);
create index check_group_runs_account on check_group_runs (account_id);

-- A check in one location, or a check that is not run.
create table check_group_run_checks (
  group_run_id text not null references check_group_runs (id) on delete cascade,
  n integer not null,
  account_id text not null,
  check_id text not null,
  name text not null,
  group_order double precision,
  -- Both null if the check is not run. No references: both may be deleted while the group is run.
  location_id text,
  location text,
  state text not null check (state in ('pending', 'started', 'done', 'expired', 'cancelled', 'skipped')),
  -- Why it is skipped.
  reason text,
  -- Of one_off_runs, once it is started.
  run_id text,
  -- Of its FINAL.
  verdict text,
  result_id text,
  primary key (group_run_id, n)
);
create index check_group_run_checks_run on check_group_run_checks (run_id) where state = 'started';

-- What comes next in a group is started as soon as a run has ended, however it did.
create function wake_group_runs() returns trigger language plpgsql as $$
begin
  if exists (select from check_group_run_checks where run_id = new.id and state = 'started') then
    perform pg_notify('vedette_group_runs', '');
  end if;
  return null;
end $$;
create trigger one_off_runs_group after update of state on one_off_runs for each row
  when (new.reason = 'requested' and new.state not in ('waiting', 'assigned') and new.state <> old.state)
  execute function wake_group_runs();

create function record_group_run_event() returns trigger language plpgsql as $$
begin
  perform record_event(new.account_id, 'group_run.finished', new.id, jsonb_build_object(
    'groupId', new.group_id, 'state', new.state, 'verdict', new.verdict));
  return null;
end $$;
create trigger check_group_runs_event after update of state on check_group_runs for each row
  when (old.state = 'running' and new.state <> 'running')
  execute function record_group_run_event();
