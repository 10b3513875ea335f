/**
 * The state of a row of alert_deliveries as people see it. A delivered notice of an open alert is sent again; if that
 * fails, people still see `sent`. `state` is then `failed`, by which failing channels are detected.
 */
export const SHOWN_STATE = `case when state = 'failed' and (notice -> 'wasDelivered')::boolean
  then 'sent' else state end`;
