-- Users by their subject at an OpenID Connect provider.
create table user_identities (
  issuer text not null,
  subject text not null,
  user_id text not null references users (id) on delete cascade,
  created_at timestamptz not null,
  primary key (issuer, subject)
);
create index user_identities_user on user_identities (user_id);
