-- Channels that send to chats, push and incident services. The release before cannot read them: src/service/README.md,
-- "Upgrades".
alter table alert_channels drop constraint alert_channels_type_check;
alter table alert_channels add constraint alert_channels_type_check check (type in ('EMAIL', 'WEBHOOK', 'SLACK', 'SMS',
  'TEAMS', 'DISCORD', 'TELEGRAM', 'PAGERDUTY', 'OPSGENIE', 'NTFY', 'PUSHOVER', 'GOOGLE_CHAT', 'MATTERMOST', 'MATRIX',
  'GOTIFY', 'INCIDENT_IO', 'ALERTMANAGER'));
