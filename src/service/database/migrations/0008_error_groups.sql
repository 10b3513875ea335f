-- Failures with the same cleaned message: of one check, or of the test sessions of one project.
create table error_groups (
  account_id text not null references accounts (id) on delete cascade,
  -- Comes from account, scope and hash: results name it before it is stored.
  id text not null,
  kind text not null check (kind in ('check', 'test-session')),
  -- The id of the check or of the project; empty for sessions that are of no project.
  scope text not null,
  -- Only to go with the check.
  check_id text,
  -- Of the sessions, sorted; null where none said where it ran.
  environments text[],
  error_hash text not null,
  -- Of the earliest failure.
  raw_message text,
  cleaned_message text not null,
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  occurrences bigint not null,
  archive text not null default 'none'
    check (archive in ('none', 'until-next-event', 'for-ever')),
  -- Whatever started after it takes the group back from 'until-next-event'.
  archived_at timestamptz,
  primary key (account_id, id),
  foreign key (account_id, check_id) references checks (account_id, id) on delete cascade,
  check ((kind = 'check') = (check_id is not null)),
  check ((archive = 'none') = (archived_at is null))
);
create index error_groups_scope on error_groups (account_id, kind, scope, last_seen desc, id);
create index error_groups_check on error_groups (account_id, check_id) where check_id is not null;
create index error_groups_age on error_groups (last_seen) where archive <> 'for-ever';

-- One run of a check file somewhere else, as it was brought here.
create table test_sessions (
  account_id text not null references accounts (id) on delete cascade,
  -- Whoever brings it may choose it, so that bringing it again is harmless.
  id text not null,
  name text,
  project_id text,
  environment text,
  provider text,
  repository text,
  branch text,
  commit_id text,
  -- Of the results; null as long as there is none.
  started_at timestamptz,
  stopped_at timestamptz,
  -- FINAL results by how they ended, and all results.
  passed integer not null default 0,
  degraded integer not null default 0,
  failed integer not null default 0,
  errors integer not null default 0,
  cancelled integer not null default 0,
  results integer not null default 0,
  -- Runs that were not made: [{checkId, slot, lastSlot, count, reason}].
  missed jsonb not null default '[]',
  error_group_ids text[] not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz,
  primary key (account_id, id)
);
create index test_sessions_newest on test_sessions (account_id, created_at desc, id);
create index test_sessions_project
  on test_sessions (account_id, project_id, created_at desc, id) where project_id is not null;
create index test_sessions_age on test_sessions (created_at);

-- Their checks are those of the file: the account need not have them.
create table test_session_results (
  account_id text not null references accounts (id) on delete cascade,
  session_id text not null,
  id text not null,
  result_type text not null check (result_type in ('FINAL', 'ATTEMPT')),
  has_failures boolean not null,
  started_at timestamptz not null,
  body jsonb not null,
  primary key (account_id, session_id, id),
  foreign key (account_id, session_id) references test_sessions (account_id, id) on delete cascade
);
create index test_session_results_oldest
  on test_session_results (account_id, session_id, started_at, id);
