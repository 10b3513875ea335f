-- Channels that are notified of all checks of the account, and templates of their messages. The release before
-- notifies them only of the checks that they have a subscription to, and sends its own texts.
alter table alert_channels
  add column subscribe_all boolean not null default false,
  add column title_template text,
  add column text_template text;
