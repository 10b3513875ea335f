-- Agents, their leases, and who runs what. Service replicas share nothing but these tables.
-- Times are the database's own (now()): the clocks of replicas and agents decide nothing.

-- One row for each agent that ever polled, kept after its lease for people to look at.
-- The lease: owner is the row itself, epoch rises each time it is taken anew. Whoever renews or
-- gives back must name the epoch it holds, so an agent that comes back late changes nothing.
create table agents (
  account_id text not null references accounts (id) on delete cascade,
  location_id text not null references private_locations (id) on delete cascade,
  id text not null,
  version text not null,
  -- Of the process: a second one with the same id takes over, and the first one is told so.
  instance_id text not null,
  capabilities jsonb not null,
  concurrency integer not null check (concurrency between 1 and 100000),
  running integer not null default 0,
  queued integer not null default 0,
  refused jsonb not null default '[]',
  epoch bigint not null default 0,
  -- null: given back, or found expired; the agent is not live.
  lease_until timestamptz,
  first_seen_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  primary key (location_id, id)
);
create index agents_lease on agents (lease_until) where lease_until is not null;

-- One counter for each location, apart from private_locations, which people edit. Its row lock is
-- what makes changes of one location's assignment happen one after the other, so that revisions
-- become visible in their order and a poll that reads up to revision r has all of r.
create table location_assignments (
  location_id text primary key references private_locations (id) on delete cascade,
  account_id text not null,
  revision bigint not null default 0,
  -- When what holds for all checks of the location last changed: proxy, variables, certificates, pauses.
  settings_revision bigint not null default 0,
  -- Tombstones up to here are gone: an agent at an older revision gets the whole set.
  purged_revision bigint not null default 0,
  assigned_at timestamptz
);

-- What changed checks, groups or agents of a location adds a row, which waits for nobody; the
-- replica that assigns deletes first those that it sees, then reads, so no change is overlooked.
create table location_changes (
  location_id text not null references private_locations (id) on delete cascade,
  id bigint generated always as identity,
  -- null: all of them, as an agent came or went, or a group or the location changed.
  check_id text,
  primary key (location_id, id)
);

-- What each check of a location is now, and who runs it. agent_id null: nobody, for this reason.
-- The check's body is not copied: check_revision says which one was announced.
create table assignments (
  location_id text not null references private_locations (id) on delete cascade,
  check_id text not null,
  account_id text not null,
  agent_id text,
  agent_epoch bigint,
  unassigned_reason text,
  period_ms integer not null,
  phase_ms integer not null,
  stride integer not null check (stride >= 1),
  stride_index integer not null check (stride_index >= 0 and stride_index < stride),
  check_revision bigint not null,
  -- Of the location; when this row last changed in a way that its agent must hear of.
  revision bigint not null,
  -- From here on its agent answers for its slots: the one before did so up to here, or it came then.
  -- null while nobody ever had it.
  answered_until timestamptz,
  primary key (location_id, check_id),
  check ((agent_id is null) = (unassigned_reason is not null)),
  check ((agent_id is null) = (agent_epoch is null))
  -- No reference to checks: the row of a deleted one says who has to be told.
);
-- A delta, and a page of the whole set, are one range of one of these.
create index assignments_delta on assignments (location_id, agent_id, revision);
create index assignments_page on assignments (location_id, agent_id, check_id);

-- What a live agent had and has no more: moved to another, deactivated or deleted. One row for each
-- (agent, check); where the check came back, its row in assignments has a later revision. Purged
-- after a day; an agent that was away for longer, or that begins anew, gets the whole set.
create table assignment_tombstones (
  location_id text not null references private_locations (id) on delete cascade,
  agent_id text not null,
  check_id text not null,
  revision bigint not null,
  created_at timestamptz not null default now(),
  primary key (location_id, agent_id, check_id)
);
create index assignment_tombstones_delta on assignment_tombstones (location_id, agent_id, revision);
create index assignment_tombstones_age on assignment_tombstones (created_at);

-- Runs beside the plan: asked for by somebody, or retries handed over. Leased to one agent at a
-- time; one that is not done by not_after goes back (a retry to its own location) or is missed.
create table one_off_runs (
  id text primary key,
  account_id text not null references accounts (id) on delete cascade,
  location_id text not null references private_locations (id) on delete cascade,
  check_id text not null,
  reason text not null check (reason in ('requested', 'retry')),
  slot timestamptz not null,
  sequence_id text not null,
  retries_made integer not null default 0,
  first_started_at timestamptz,
  -- Of a retry: where the run began, which gets it back where nobody else makes it in time.
  origin_location_id text references private_locations (id) on delete set null,
  not_before timestamptz,
  not_after timestamptz not null,
  agent_id text,
  agent_epoch bigint,
  -- Its agent need not be told of it again: the results are in its spool, another location has the
  -- next attempt, or it was not run. Only the FINAL makes it done.
  closed_at timestamptz,
  state text not null default 'waiting'
    check (state in ('waiting', 'assigned', 'done', 'expired')),
  created_at timestamptz not null default now(),
  -- Asking again for the same attempt of the same run is the same one-off.
  unique (account_id, check_id, sequence_id, retries_made)
);
create index one_off_runs_open on one_off_runs (location_id, agent_id) where state in ('waiting', 'assigned');
create index one_off_runs_ending on one_off_runs (not_after) where state in ('waiting', 'assigned');
create index one_off_runs_check on one_off_runs (account_id, check_id);

-- At most one FINAL for a run, whoever sent it: two agents that both ran a slot, one of them cut
-- off, may have made different numbers of attempts, so their FINALs have different ids.
create unique index check_results_one_final
  on check_results (account_id, check_id, sequence_id, slot) where result_type = 'FINAL';

-- Notes the locations that a change of a check concerns. In triggers, so that no path that writes
-- checks can forget it, in this release or the one before.
create function note_location_changes(of_account text, slugs jsonb, of_check text) returns void
language sql as $$
  insert into location_changes (location_id, check_id)
  select l.id, of_check from private_locations l where l.account_id = of_account and slugs ? l.slug;
$$;

create function slugs_or_none(slugs jsonb) returns jsonb
language sql immutable as $$
  select case when jsonb_typeof(slugs) = 'array' then slugs else '[]'::jsonb end;
$$;

create function checks_changed() returns trigger
language plpgsql as $$
begin
  -- Names, tags and mutes are in the body too, and results carry the name: all of it counts.
  if tg_op = 'UPDATE' and (new.body, new.activated, new.group_id, new.sealed_variables)
      is not distinct from (old.body, old.activated, old.group_id, old.sealed_variables) then
    return null;
  end if;
  perform note_location_changes(coalesce(new.account_id, old.account_id),
    slugs_or_none(old.body -> 'privateLocations') || slugs_or_none(new.body -> 'privateLocations'),
    coalesce(new.id, old.id));
  -- In a group, its locations stand in for the check's own.
  if old.group_id is not null or new.group_id is not null then
    perform note_location_changes(g.account_id, slugs_or_none(g.private_locations), coalesce(new.id, old.id))
    from check_groups g where g.id in (old.group_id, new.group_id);
  end if;
  perform pg_notify('vedette_changes', '');
  return null;
end $$;
create trigger checks_changed after insert or update or delete on checks
  for each row execute function checks_changed();

-- Without locations of its own, a group still says whether its checks run in theirs.
create function check_groups_changed() returns trigger
language plpgsql as $$
begin
  if tg_op = 'UPDATE' and (new.activated, new.private_locations)
      is not distinct from (old.activated, old.private_locations) then
    return null;
  end if;
  perform note_location_changes(coalesce(new.account_id, old.account_id),
    slugs_or_none(old.private_locations) || slugs_or_none(new.private_locations)
      || (select coalesce(jsonb_agg(distinct slug), '[]'::jsonb)
          from checks c, jsonb_array_elements(slugs_or_none(c.body -> 'privateLocations')) as slug
          where c.group_id = old.id),
    null);
  perform pg_notify('vedette_changes', '');
  return null;
end $$;
create trigger check_groups_changed after update or delete on check_groups
  for each row execute function check_groups_changed();

create function private_location_added() returns trigger
language plpgsql as $$
begin
  insert into location_assignments (location_id, account_id) values (new.id, new.account_id);
  insert into location_changes (location_id) values (new.id);
  return null;
end $$;
-- What agents are told of their location itself. In the order of the ids, so that two changes never
-- wait for each other.
create function note_settings_change(of_account text, of_location text) returns void
language plpgsql as $$
declare
  changed text;
begin
  for changed in
    select location_id from location_assignments
    where account_id = of_account and (of_location is null or location_id = of_location)
    order by location_id for update
  loop
    update location_assignments set revision = revision + 1, settings_revision = revision + 1
    where location_id = changed;
    perform pg_notify('vedette_assignments', changed);
  end loop;
end $$;

create function private_location_changed() returns trigger
language plpgsql as $$
begin
  if new.proxy_url is distinct from old.proxy_url then
    perform note_settings_change(new.account_id, new.id);
  end if;
  return null;
end $$;
create trigger private_location_changed after update on private_locations
  for each row execute function private_location_changed();

create trigger private_location_added after insert on private_locations
  for each row execute function private_location_added();
insert into location_assignments (location_id, account_id)
  select id, account_id from private_locations;
insert into location_changes (location_id) select id from private_locations;

-- What was uploaded to a result. The bytes are in the artifact store, by digest; several rows may
-- share them.
create table artifacts (
  account_id text not null references accounts (id) on delete cascade,
  -- Follows from result and name, so that uploading again is the same artifact.
  id text not null,
  check_id text not null,
  result_id text not null,
  name text not null,
  content_type text not null,
  sha256 text not null,
  bytes bigint not null,
  created_at timestamptz not null default now(),
  primary key (account_id, id)
);
create index artifacts_result on artifacts (account_id, result_id);
create index artifacts_content on artifacts (account_id, sha256);
create index artifacts_age on artifacts (created_at);

-- What is being uploaded, and which artifact it is to become. Goes when it has become one.
create table artifact_uploads (
  account_id text not null references accounts (id) on delete cascade,
  -- The artifact's id, the digest and the length: two agents that made the same attempt of the
  -- same run may upload other content at once, and the first that is complete stays.
  id text not null,
  artifact_id text not null,
  check_id text not null,
  result_id text not null,
  name text not null,
  content_type text not null,
  sha256 text not null,
  bytes bigint not null,
  active_at timestamptz not null default now(),
  primary key (account_id, id)
);
create index artifact_uploads_content on artifact_uploads (account_id, sha256);
create index artifact_uploads_result on artifact_uploads (account_id, result_id);
create index artifact_uploads_age on artifact_uploads (active_at);

-- The agents' own errors (external observability), without anything of what they check.
create table agent_errors (
  id bigint generated always as identity primary key,
  account_id text not null references accounts (id) on delete cascade,
  location_id text not null references private_locations (id) on delete cascade,
  agent_id text not null,
  version text not null,
  node text not null,
  platform text not null,
  arch text not null,
  class text not null,
  code text,
  stack jsonb not null,
  count bigint not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  received_at timestamptz not null default now()
);
create index agent_errors_location on agent_errors (account_id, location_id, id desc);

-- Of the run that last saw a certificate: a run that sees none leaves its days as they are, and
-- one that arrives late must not bring back older ones.
alter table check_statuses add column ssl_slot timestamptz;
