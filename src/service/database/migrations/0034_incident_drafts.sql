-- Incidents of status pages that only their account sees, and what is written about them afterwards.

alter table status_page_incidents add column is_draft boolean not null default false;
-- Markdown; null for none.
alter table status_page_incidents add column post_mortem text;
