-- Status pages, what is on them, and incidents.
-- `n` counts in the order of creation, by which everything here is listed.

create table status_page_services (
  account_id text not null references accounts (id) on delete cascade,
  id text not null,
  n bigint generated always as identity,
  name text not null,
  created_at timestamptz not null,
  updated_at timestamptz,
  primary key (account_id, id)
);

-- The url and the domain are where people find the page, so no two accounts can have the same.
create table status_pages (
  account_id text not null references accounts (id) on delete cascade,
  id text not null,
  n bigint generated always as identity,
  name text not null,
  url text not null constraint status_pages_url unique,
  custom_domain text constraint status_pages_custom_domain unique,
  description text,
  theme_colors jsonb not null,
  logo text,
  favicon text,
  redirect_to text,
  default_theme text not null check (default_theme in ('LIGHT', 'DARK', 'AUTO')),
  white_label boolean not null,
  is_private boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz,
  primary key (account_id, id)
);

create table status_page_cards (
  account_id text not null references accounts (id) on delete cascade,
  status_page_id text not null,
  id text not null,
  position integer not null,
  name text not null,
  created_at timestamptz not null,
  updated_at timestamptz,
  primary key (account_id, id),
  foreign key (account_id, status_page_id)
    references status_pages (account_id, id) on delete cascade
);
create index status_page_cards_page on status_page_cards (account_id, status_page_id, position);

create table status_page_card_services (
  account_id text not null references accounts (id) on delete cascade,
  card_id text not null,
  service_id text not null,
  position integer not null,
  primary key (account_id, card_id, service_id),
  foreign key (account_id, card_id)
    references status_page_cards (account_id, id) on delete cascade,
  foreign key (account_id, service_id)
    references status_page_services (account_id, id) on delete cascade
);
create index status_page_card_services_service
  on status_page_card_services (account_id, service_id);

create table status_page_incidents (
  account_id text not null references accounts (id) on delete cascade,
  id text not null,
  n bigint generated always as identity,
  name text not null,
  severity text not null check (severity in ('CRITICAL', 'MAJOR', 'MEDIUM', 'MINOR')),
  -- The status of its latest update; all but RESOLVED are open.
  last_update_status text not null,
  -- The check whose failure opened it; null where a person did. No reference: it outlives the check.
  check_id text,
  -- Whether the recovery of that check resolves it. Ends with the first RESOLVED, whoever says so.
  follows_check boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz,
  primary key (account_id, id)
);
create index status_page_incidents_order on status_page_incidents (account_id, n);
create index status_page_incidents_open on status_page_incidents (account_id, n)
  where last_update_status <> 'RESOLVED';
create unique index status_page_incidents_of_check on status_page_incidents (account_id, check_id)
  where follows_check;
create index status_page_incidents_past on status_page_incidents (updated_at)
  where check_id is not null and last_update_status = 'RESOLVED';

create table status_page_incident_services (
  account_id text not null references accounts (id) on delete cascade,
  incident_id text not null,
  service_id text not null,
  position integer not null,
  primary key (account_id, incident_id, service_id),
  foreign key (account_id, incident_id)
    references status_page_incidents (account_id, id) on delete cascade,
  foreign key (account_id, service_id)
    references status_page_services (account_id, id) on delete cascade
);
create index status_page_incident_services_service
  on status_page_incident_services (account_id, service_id);

create table status_page_incident_updates (
  account_id text not null references accounts (id) on delete cascade,
  incident_id text not null,
  id text not null,
  n bigint generated always as identity,
  status text not null,
  description text not null,
  -- The time that readers are shown; null for that of its creation.
  public_at timestamptz,
  notify_subscribers boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz,
  primary key (account_id, id),
  foreign key (account_id, incident_id)
    references status_page_incidents (account_id, id) on delete cascade
);
create index status_page_incident_updates_order
  on status_page_incident_updates (account_id, incident_id, n);

-- The other family: incidents of dashboards.
create table incidents (
  account_id text not null references accounts (id) on delete cascade,
  id text not null,
  n bigint generated always as identity,
  name text not null,
  impact text not null check (impact in ('MAINTENANCE', 'MAJOR', 'MINOR')),
  dashboard_id bigint,
  started_at timestamptz not null,
  stopped_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz,
  primary key (account_id, id)
);
create index incidents_order on incidents (account_id, n);

-- The same columns as those of status pages, so that the same statements serve both.
create table incident_updates (
  account_id text not null references accounts (id) on delete cascade,
  incident_id text not null,
  id text not null,
  n bigint generated always as identity,
  status text not null,
  description text not null,
  public_at timestamptz,
  notify_subscribers boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz,
  primary key (account_id, id),
  foreign key (account_id, incident_id)
    references incidents (account_id, id) on delete cascade
);
create index incident_updates_order on incident_updates (account_id, incident_id, n);
