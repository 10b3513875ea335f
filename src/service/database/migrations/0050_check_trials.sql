-- Checks that are run once without being saved. Nothing refers to them, and they live for an hour.
create table check_trials (
  id text primary key,
  account_id text not null references accounts (id) on delete cascade,
  location_id text not null references private_locations (id) on delete cascade,
  -- The check that the trial would change; null for a new one.
  check_id text,
  name text not null,
  check_type text not null,
  target text not null,
  -- As in checks. Both are null once the trial has ended: none of its secrets stays.
  body jsonb,
  sealed_variables bytea,
  state text not null default 'waiting'
    check (state in ('waiting', 'running', 'finished', 'missed', 'expired')),
  slot timestamptz not null,
  agent_id text,
  agent_epoch bigint,
  -- Why it was missed or expired.
  reason text,
  message text,
  -- As in check_results, and the explanation as the API shows it.
  result jsonb,
  explanation jsonb,
  created_at timestamptz not null default now(),
  not_after timestamptz not null,
  ended_at timestamptz
);
create index check_trials_open on check_trials (location_id) where state in ('waiting', 'running');
create index check_trials_account on check_trials (account_id, created_at);
create index check_trials_age on check_trials (created_at);
