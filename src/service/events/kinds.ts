/** Resources whose creation, update and deletion are events. */
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
 * The kinds of events. The triggers that write them are in migrations (see README.md in this folder). A test
 * compares the triggers and the API documentation with this list.
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
