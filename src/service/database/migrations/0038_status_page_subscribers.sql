-- Subscribers to the incidents of a status page: src/service/README.md, "Subscribers".

create table status_page_subscribers (
  account_id text not null references accounts (id) on delete cascade,
  id text not null,
  -- The order in which they are notified.
  n bigint generated always as identity,
  list_position bigint not null default next_list_position(),
  status_page_id text not null,
  kind text not null check (kind in ('email', 'webhook')),
  -- The address, the token of its links and, of a webhook, the key of its signature, as encrypted JSON.
  sealed bytea not null,
  -- HMAC-SHA256 of the address, by a key that is not in the database: finds it without decrypting.
  address_digest bytea not null,
  -- SHA-256 of the token in the links of messages.
  token_hash bytea not null unique,
  -- Ids of services; null for all of the page.
  service_ids text[],
  -- Where the page was reached: the base of links, unless the page has since moved.
  base text not null,
  -- null: nobody has followed the link of the confirmation yet.
  confirmed_at timestamptz,
  -- Messages in a row that the address refused for good, and until when it gets no further ones.
  bounces integer not null default 0,
  rested_until timestamptz,
  -- The first failure since the last success.
  failing_since timestamptz,
  created_at timestamptz not null,
  primary key (account_id, id),
  unique (account_id, status_page_id, address_digest),
  foreign key (account_id, status_page_id)
    references status_pages (account_id, id) on delete cascade
);
create index status_page_subscribers_page on status_page_subscribers (account_id, status_page_id, n);
create index status_page_subscribers_unconfirmed on status_page_subscribers (created_at)
  where confirmed_at is null;

-- The outbox: an update of an incident whose subscribers get messages. It is stored with the update.
create table status_page_announcements (
  account_id text not null references accounts (id) on delete cascade,
  update_id text not null,
  -- The order in which they are worked on.
  n bigint generated always as identity,
  -- Subscribers up to this `n` have their deliveries.
  delivered_to bigint not null default 0,
  created_at timestamptz not null,
  -- When all of them had theirs.
  finished_at timestamptz,
  primary key (account_id, update_id),
  foreign key (account_id, update_id)
    references status_page_incident_updates (account_id, id) on delete cascade
);
create index status_page_announcements_due on status_page_announcements (n)
  where finished_at is null;

-- A message to one subscriber, and what came of it. With its states as in alert_deliveries.
create table status_page_deliveries (
  id text primary key,
  seq bigint generated always as identity,
  account_id text not null references accounts (id) on delete cascade,
  subscriber_id text not null,
  -- Of the subscriber: each kind has its own queue.
  kind text not null,
  -- null for the mail by which an address is confirmed.
  update_id text,
  state text not null default 'waiting' check (state in ('waiting', 'sending', 'sent', 'failed')),
  attempts integer not null default 0,
  due_at timestamptz not null,
  owner text,
  lease_until timestamptz,
  last_status integer,
  last_error text,
  created_at timestamptz not null,
  finished_at timestamptz,
  unique (account_id, subscriber_id, update_id),
  foreign key (account_id, subscriber_id)
    references status_page_subscribers (account_id, id) on delete cascade,
  foreign key (account_id, update_id)
    references status_page_incident_updates (account_id, id) on delete cascade
);
create index status_page_deliveries_due on status_page_deliveries (kind, due_at, seq)
  where finished_at is null;
create index status_page_deliveries_lane on status_page_deliveries (account_id, subscriber_id, seq)
  where finished_at is null;
create index status_page_deliveries_update on status_page_deliveries (account_id, update_id);
create index status_page_deliveries_finished on status_page_deliveries (finished_at)
  where finished_at is not null;

-- Requests to subscribe of a window of time, by a digest of an address, a client or a page.
create table status_page_subscribe_counts (
  subject bytea primary key,
  requests integer not null,
  first_at timestamptz not null
);
create index status_page_subscribe_counts_first on status_page_subscribe_counts (first_at);
