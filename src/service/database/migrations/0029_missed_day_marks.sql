-- The days of missed slots that are stored already, for their roll-ups. In a file of its own: it reads all of
-- them, and agents report meanwhile.
insert into rollup_marks (account_id, check_id, kind, span, start, due)
select distinct account_id, check_id, 'missed', 1440, day, day + interval '24 hours 2 minutes'
from (
  select account_id, check_id, generate_series(
    date_bin('24 hours', slot, timestamptz '1970-01-01T00:00:00Z'), last_slot, '24 hours') as day
  from missed_slots
) as days
on conflict (account_id, check_id, kind, span, start) do nothing;
