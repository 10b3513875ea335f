-- Private locations whose checks do not run because no agent of them polls. A row is there while the
-- location is silent; a location that never had an agent has none.
create table silent_locations (
  location_id text primary key references private_locations (id) on delete cascade,
  account_id text not null references accounts (id) on delete cascade,
  -- The last poll of an agent.
  since timestamptz not null,
  -- The slots of its checks are recorded as missed up to here …
  covered_until timestamptz not null,
  -- … and up to here those of the checks whose ids are not above after_check; null between two windows.
  window_until timestamptz,
  after_check text not null default '',
  -- When a replica last recorded some of them: each location gets its turn.
  handled_at timestamptz not null default now()
);
create index silent_locations_account on silent_locations (account_id);
