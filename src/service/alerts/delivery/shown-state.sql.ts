/**
 * The state of a row of alert_deliveries as people see it: what was delivered stays `sent` when sending it again, as
 * its alert is still open, has failed. `state` has that failure, by which the channel is known to fail.
 */
export const SHOWN_STATE = `case when state = 'failed' and (notice -> 'wasDelivered')::boolean
  then 'sent' else state end`;
