-- What measures a service of status pages. The release before leaves the defaults: nothing does.
alter table status_page_services
  add column check_tags jsonb not null default '[]',
  add column failure_rule text not null default 'ANY'
    check (failure_rule in ('ANY', 'ALL', 'LOCATIONS')),
  add column failure_locations integer,
  add column show_uptime boolean not null default true;

-- Checks and heartbeats; the type of the check says which.
create table status_page_service_checks (
  account_id text not null references accounts (id) on delete cascade,
  service_id text not null,
  check_id text not null,
  position integer not null,
  primary key (account_id, service_id, check_id),
  foreign key (account_id, service_id)
    references status_page_services (account_id, id) on delete cascade,
  foreign key (account_id, check_id) references checks (account_id, id) on delete cascade
);
create index status_page_service_checks_check on status_page_service_checks (account_id, check_id);
