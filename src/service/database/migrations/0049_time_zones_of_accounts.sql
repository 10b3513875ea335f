-- The zone in which notices to people write times, as a name of the IANA database.
alter table accounts add column time_zone text not null default 'UTC';
alter table accounts add column updated_at timestamptz;
