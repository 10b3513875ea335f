-- What the service responded to requests with an Idempotency-Key, for a day.
create table idempotency_keys (
  account_id text not null references accounts (id) on delete cascade,
  -- The kind and id of who sent the request: keys of one do not meet those of another.
  sender text not null,
  -- Hashes: of the key, and of the request by the key.
  key text not null,
  request_hash bytea not null,
  started_at timestamptz not null,
  -- Null while the first request is in progress.
  status integer,
  location text,
  -- As JSON in UTF-8, encrypted where the service has a key; null where it was not kept.
  body bytea,
  is_sealed boolean not null default false,
  primary key (account_id, sender, key)
);
create index idempotency_keys_started on idempotency_keys (started_at);
