-- Whether a channel is notified of silent locations; null: as of failures. The release before leaves it null.
alter table alert_channels add column send_location_silent boolean;

-- Whether channels remain to be notified of the silence, because a maintenance window silences them. The
-- release before leaves it null: no.
alter table silent_locations add column notices_pending boolean;
