-- Why something failed, as far as the evidence tells. Analyses are history: they stay until their
-- retention is over, whatever becomes of their check and their error group.
create table root_cause_analyses (
  account_id text not null references accounts (id) on delete cascade,
  id text not null,
  check_id text not null,
  check_type text not null,
  error_group_id text,
  -- The failure that it looks at.
  result_id text not null,
  slot timestamptz not null,
  origin text not null check (origin in ('automatic', 'requested')),
  asked_provider text not null check (asked_provider in ('rules', 'openai')),
  state text not null default 'PENDING' check (state in ('PENDING', 'COMPLETED')),
  provider text,
  model text,
  duration_ms double precision,
  analysis jsonb,
  created_at timestamptz not null,
  -- Counts those who began to make it; the last of them has it until its lease ends.
  claim integer not null default 0,
  lease_until timestamptz,
  primary key (account_id, id),
  check (state = 'PENDING'
    or (provider is not null and model is not null and duration_ms is not null
      and analysis is not null))
);
create index root_cause_analyses_pending
  on root_cause_analyses (asked_provider, origin desc, created_at) where state = 'PENDING';
create index root_cause_analyses_group
  on root_cause_analyses (account_id, error_group_id, created_at desc)
  where error_group_id is not null;
create index root_cause_analyses_check
  on root_cause_analyses (account_id, check_id, created_at desc);
create index root_cause_analyses_account on root_cause_analyses (account_id, created_at desc);
create index root_cause_analyses_age on root_cause_analyses (created_at);

-- How many analyses an account had from the model on a day (UTC).
create table root_cause_model_days (
  account_id text not null references accounts (id) on delete cascade,
  day date not null,
  used integer not null,
  primary key (account_id, day)
);

-- The host that a check is about, in lower case: to find the other checks of the same one.
create function monitored_host(body jsonb) returns text
language sql immutable parallel safe as $$
  select left(lower(rtrim(coalesce(
    body #>> '{request,hostname}',
    body #>> '{request,query}',
    substring(body #>> '{request,url}'
      from '^[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#@]*@)?(\[[^]/?#]*\]|[^:/?#]*)')), '.')), 253)
$$;
create index checks_host on checks (account_id, monitored_host(body));
