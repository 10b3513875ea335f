-- The id of a resource in the check file that manages it (`vedette apply`). The release before leaves it
-- null, and changes it in no update: heartbeats have it in checks.body, which that release writes without it.
alter table check_groups add column logical_id text;
alter table alert_channels add column logical_id text;
alter table maintenance_windows add column logical_id text;
alter table status_page_services add column logical_id text;
alter table status_pages add column logical_id text;

create unique index check_groups_logical_id on check_groups (account_id, logical_id)
  where logical_id is not null;
create unique index alert_channels_logical_id on alert_channels (account_id, logical_id)
  where logical_id is not null;
create unique index maintenance_windows_logical_id on maintenance_windows (account_id, logical_id)
  where logical_id is not null;
create unique index status_page_services_logical_id on status_page_services (account_id, logical_id)
  where logical_id is not null;
create unique index status_pages_logical_id on status_pages (account_id, logical_id)
  where logical_id is not null;
