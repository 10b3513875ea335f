-- When the first agent of a check got it, while answered_until is the end of that agent's lease: a new process of
-- the agent, which may not have the check on disk, answers for its slots from then on. null otherwise, and for
-- assignments of the previous release.
alter table assignments add column first_assigned_at timestamptz;
