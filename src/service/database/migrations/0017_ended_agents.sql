-- When an operator ended the agent; null for one that may poll. Releases before this one do not know it:
-- their replicas go on giving such an agent a lease, which the next poll that reaches a newer one takes back.
alter table agents add column ended_at timestamptz;
