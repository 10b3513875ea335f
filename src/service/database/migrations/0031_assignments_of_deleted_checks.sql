-- A check that is deleted and created again with the same id is another check: what a location was given of the first
-- one admits no result of the second. In a trigger, so that no path that deletes checks can forget it, in this release
-- or the one before.
alter table one_off_runs add column check_deleted boolean not null default false;

create function check_assignments_forgotten() returns trigger
language plpgsql as $$
begin
  delete from assigned_slots s using private_locations l
  where l.account_id = old.account_id and s.location_id = l.id and s.check_id = old.id;
  update one_off_runs set check_deleted = true
  where account_id = old.account_id and check_id = old.id and not check_deleted;
  return null;
end $$;
-- Its name sorts behind those of the foreign keys: the check's assignments have ended when it runs.
create trigger check_assignments_forgotten after delete on checks for each row
  execute function check_assignments_forgotten();

delete from assigned_slots s using private_locations l
where l.id = s.location_id
  and not exists (select from checks c where c.account_id = l.account_id and c.id = s.check_id);
