-- For the list of the groups of all checks of an account.
create index error_groups_recent on error_groups (account_id, kind, last_seen desc, id);
