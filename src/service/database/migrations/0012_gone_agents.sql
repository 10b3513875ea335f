-- Which agent is gone, where check_id is null and that is all that happened: then its checks alone
-- are given to others. Releases before this one do not know it, and look at all checks.
alter table location_changes add column gone_agent text;
