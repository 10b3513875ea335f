-- Before this table, a location counts as having had every check that names it, that it has or lately
-- had, or that it has results or missed slots of.
insert into assigned_slots (location_id, check_id, since, until)
select location_id, check_id, to_timestamp(0), now() from (
  select location_id, check_id from assignments
  union
  select location_id, check_id from assignment_tombstones
  union
  select l.id, c.id
  from checks c
  left join check_groups g on g.id = c.group_id
  join private_locations l on l.account_id = c.account_id
    and (slugs_or_none(c.body -> 'privateLocations') ? l.slug
      or slugs_or_none(g.private_locations) ? l.slug)
  where c.check_type <> 'HEARTBEAT'
  union
  select l.id, seen.check_id
  from (
    select distinct account_id, check_id, run_location as location from result_metrics
    union
    select distinct account_id, check_id, location from missed_slots
  ) seen
  join private_locations l on l.account_id = seen.account_id and l.slug = seen.location
) had;
