-- Whether a person changed the incident or its updates: what only a check wrote is deleted after some years.
-- Rows of earlier releases say it by their texts and times alone.
alter table status_page_incidents add column is_edited boolean not null default false;
