-- Who changed what: src/service/audit-log/README.md.
create table audit_log (
  id bigint generated always as identity primary key,
  account_id text not null references accounts (id) on delete cascade,
  list_position bigint not null default next_list_position(),
  at timestamptz not null,
  -- user, key, setup, operator or unknown. The name is that of the time: an email or the name of a key.
  actor_kind text not null,
  actor_id text,
  actor_name text,
  -- The IP address of the request; null where there was none.
  address text,
  action text not null,
  kind text not null,
  resource_id text,
  resource_name text,
  -- An array of {field, before, after}, without secrets.
  changes jsonb not null default '[]',
  -- Changed fields beyond the bound of a row.
  dropped integer not null default 0,
  -- How often it happened: failed sign-ins of a window share a row.
  count integer not null default 1,
  shared_by text,
  unique (account_id, shared_by)
);
create index audit_log_time on audit_log (account_id, at desc, id desc);
create index audit_log_list on audit_log (account_id, list_position, id);
create index audit_log_age on audit_log (at);
