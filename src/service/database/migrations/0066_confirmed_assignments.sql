-- The revision of the last complete answer that the agent has on disk: it names it in its next poll.
alter table agents add column known_revision bigint not null default 0;
-- The revision of the location when the agent got the check: until the agent has this revision on disk, the check may not
-- have reached it. null for assignments of the previous release.
alter table assignments add column assigned_revision bigint;
