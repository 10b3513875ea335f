-- People who sign in. An email is stored in lower case.
create table users (
  id text primary key,
  email text not null unique,
  -- scrypt with its parameters and salt; null where the user has no password.
  password_hash text,
  created_at timestamptz not null,
  last_sign_in_at timestamptz
);

-- A user may belong to several accounts, with a role in each.
create table memberships (
  account_id text not null references accounts (id) on delete cascade,
  user_id text not null references users (id) on delete cascade,
  role text not null check (role in ('read', 'run', 'write', 'admin')),
  created_at timestamptz not null,
  primary key (account_id, user_id)
);
create index memberships_user on memberships (user_id);

create table user_sessions (
  id text primary key,
  user_id text not null references users (id) on delete cascade,
  -- SHA-256 of the token in the cookie.
  token_hash bytea not null unique,
  -- Where the user signed in.
  address text not null,
  user_agent text not null,
  created_at timestamptz not null,
  -- To the minute.
  last_used_at timestamptz not null,
  -- However often it is used.
  ends_at timestamptz not null
);
create index user_sessions_user on user_sessions (user_id);
create index user_sessions_ends on user_sessions (ends_at);

-- Links that work once; a link that was used is deleted. kind is setup (the first user of the
-- service, without account, email and role) or invitation.
create table one_time_links (
  id text primary key,
  kind text not null,
  account_id text references accounts (id) on delete cascade,
  email text,
  role text check (role in ('read', 'run', 'write', 'admin')),
  -- SHA-256 of the token in the link.
  token_hash bytea not null unique,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index one_time_links_account on one_time_links (account_id);
create index one_time_links_expires on one_time_links (expires_at);

-- Failed sign-ins of a window of time, counted by SHA-256 of an address, an email, or both.
create table sign_in_failures (
  subject bytea primary key,
  failures integer not null,
  first_at timestamptz not null
);
create index sign_in_failures_first on sign_in_failures (first_at);
