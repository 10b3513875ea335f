-- When checks pause and alerts are silent.
create table maintenance_windows (
  id bigint generated always as identity primary key,
  account_id text not null references accounts (id) on delete cascade,
  name text not null,
  tags jsonb not null,
  starts_at timestamptz not null,
  ends_at timestamptz not null check (ends_at > starts_at),
  repeat_unit text not null check (repeat_unit in ('DAY', 'WEEK', 'MONTH')),
  -- null: once.
  repeat_interval integer check (repeat_interval >= 1),
  repeat_ends_at timestamptz check (repeat_ends_at > starts_at),
  pause_all_checks boolean not null,
  silence_alerts_tags jsonb not null,
  silence_all_alerts boolean not null,
  -- The end of its last occurrence; null for one that never ends. Follows from the others.
  over_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz
);
create index maintenance_windows_account on maintenance_windows (account_id, id);
create index maintenance_windows_current on maintenance_windows (account_id, over_at);

-- Agents go by the windows themselves, so each change that matters to them reaches them at once.
-- In triggers, so that no path that writes windows can forget it.
create function window_pauses(w maintenance_windows) returns boolean
language sql immutable as $$
  select w.pause_all_checks or w.tags <> '[]'::jsonb;
$$;

create function maintenance_windows_changed() returns trigger
language plpgsql as $$
begin
  if tg_op = 'UPDATE' and (new.tags, new.pause_all_checks, new.starts_at, new.ends_at,
        new.repeat_unit, new.repeat_interval, new.repeat_ends_at)
      is not distinct from (old.tags, old.pause_all_checks, old.starts_at, old.ends_at,
        old.repeat_unit, old.repeat_interval, old.repeat_ends_at) then
    return null;
  end if;
  if window_pauses(new) or window_pauses(old) then
    perform note_settings_change(coalesce(new.account_id, old.account_id), null);
  end if;
  return null;
end $$;
create trigger maintenance_windows_changed after insert or update or delete on maintenance_windows
  for each row execute function maintenance_windows_changed();

-- Checks pause by the tags of their group, too: each of them is told again.
create function check_group_tags_changed() returns trigger
language plpgsql as $$
begin
  insert into location_changes (location_id, check_id)
  select l.id, c.id
  from checks c join private_locations l on l.account_id = c.account_id
    and (case when slugs_or_none(new.private_locations) <> '[]'::jsonb then new.private_locations
           else slugs_or_none(c.body -> 'privateLocations') end) ? l.slug
  where c.group_id = new.id;
  perform pg_notify('vedette_changes', '');
  return null;
end $$;
create trigger check_group_tags_changed after update of tags on check_groups
  for each row when (old.tags is distinct from new.tags)
  execute function check_group_tags_changed();
