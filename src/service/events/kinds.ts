/** Resources each of whose changes is an event. */
const CHANGING = [
  'check',
  'group',
  'alert_channel',
  'maintenance_window',
  'location',
  'status_page',
  'status_page_service',
  'incident',
  'dashboard_incident',
] as const;

/**
 * The kinds of events. The triggers that write them are in migrations (README.md beside this file); a test
 * compares them with this list, and with that of the API's description.
 */
export const EVENT_KINDS: readonly string[] = [
  ...CHANGING.flatMap((kind) => [`${kind}.created`, `${kind}.updated`, `${kind}.deleted`]),
  'check.status_changed',
  'check_run.finished',
  'group_run.finished',
  'alert.created',
  'alert.acknowledged',
  'alert.unacknowledged',
  'location.silent',
  'location.recovered',
  'location.agent_online',
  'location.agent_offline',
];
