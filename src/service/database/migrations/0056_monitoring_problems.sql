-- The problems of monitoring itself that a channel is notified of, as a list of names; null: as of failures. The
-- release before leaves it null.
alter table alert_channels add column send_monitoring_problems jsonb;

-- What is wrong with monitoring itself: src/service/README.md, "Problems of monitoring itself". A row is there
-- while it is so, and from before that until it is certain.
create table monitoring_problems (
  -- Made of the account, the kind and the subject.
  id text primary key,
  account_id text not null references accounts (id) on delete cascade,
  kind text not null,
  -- The id of the location or the channel, or `disk`.
  subject_id text not null,
  -- As notices show it, also after it was deleted.
  subject jsonb not null,
  -- What was found last, for people.
  message text not null,
  since timestamptz not null,
  -- When it was last found.
  seen_at timestamptz not null,
  -- When it was certain, and channels were notified; null before that.
  begun_at timestamptz,
  -- Whether channels remain to be notified, because a maintenance window silences them.
  notices_pending boolean not null default false,
  list_position bigint not null default next_list_position()
);
create index monitoring_problems_account on monitoring_problems (account_id, kind, subject_id);
