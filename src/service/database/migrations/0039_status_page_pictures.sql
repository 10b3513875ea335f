-- The pictures of status pages (logo, favicon), fetched and made anew by the service. The release before
-- reads and writes none; pictures of pages that it changes are fetched later.
create table status_page_pictures (
  account_id text not null references accounts (id) on delete cascade,
  status_page_id text not null,
  kind text not null check (kind in ('logo', 'favicon')),
  -- The URL that is to be fetched, or was last; that of the page may be a newer one.
  url text not null,
  attempts integer not null,
  -- Until then nobody else fetches it, or nobody again; null where there is nothing to fetch any more.
  next_attempt_at timestamptz,
  -- Why the last attempt failed; null where none did, or one is in progress.
  problem text,
  -- The URL of the picture below; null where it must be fetched again.
  fetched_url text,
  -- The last picture that was fetched; null before the first.
  type text,
  width integer,
  height integer,
  hash text,
  bytes bytea,
  primary key (account_id, status_page_id, kind),
  foreign key (account_id, status_page_id)
    references status_pages (account_id, id) on delete cascade
);

-- For the rendered pages, which contain the hash.
create trigger status_page_pictures_change after update on status_page_pictures
  for each row when (new.hash is distinct from old.hash)
  execute function notify_status_page_change();
