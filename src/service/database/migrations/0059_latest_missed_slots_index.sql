-- In a file of its own: it takes a while, and agents report missed slots meanwhile.
-- The ranges of missed slots that ended lately, of all accounts.
create index missed_slots_latest on missed_slots (last_slot);
