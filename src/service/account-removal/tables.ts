/** A table with rows of accounts, and how they are removed. */
export interface RemovedTable {
  readonly name: string;
  /** How a row refers to its account. Default: by its `account_id`. */
  readonly by?: RowOwner;
  /** Rows per statement. Lower if deleting a row also deletes others (cascade). Default: ROWS_AT_ONCE. */
  readonly rowsAtOnce?: number;
  /** Whether the table's partitions are emptied one by one. Default: false. */
  readonly isPartitioned?: boolean;
  /**
   * The column that follows the account in an index: a batch starts where the one before it ended, and
   * does not look at the entries of removed rows again. For tables with very many rows of an account.
   */
  readonly walk?: { readonly column: string; readonly type: 'text' | 'bigint' };
  /** The noun for one row in the summary. Default: OTHER_ROW. */
  readonly noun?: string;
}

/** `locations`: the row has the id of a location of the account; `groupRuns`: that of a run of a group. */
export type RowOwner = 'account' | 'locations' | 'groupRuns';

export const ROWS_AT_ONCE = 5_000;
export const OTHER_ROW = 'other row';

const byCheck = { walk: { column: 'check_id', type: 'text' } } as const;
const byPosition = { walk: { column: 'list_position', type: 'bigint' } } as const;

/**
 * In the order of removal. Tables that triggers write to when other rows are deleted come last. Access
 * (`revokeAccess`) and artifacts with their contents (`removeArtifactsOf`) are removed before all of these.
 */
export const REMOVED_TABLES: readonly RemovedTable[] = [
  // Locations go before checks: then the triggers of checks find no location to notify.
  { name: 'location_changes', by: 'locations' },
  { name: 'assignment_tombstones', by: 'locations' },
  { name: 'assignments', by: 'locations' },
  { name: 'assigned_slots', by: 'locations' },
  { name: 'check_trials' },
  { name: 'one_off_runs' },
  { name: 'agent_errors' },
  { name: 'silent_locations' },
  { name: 'agents', by: 'locations' },
  { name: 'location_assignments', by: 'locations' },
  { name: 'private_locations', rowsAtOnce: 20, noun: 'location' },

  // Results are stored for checks that exist: none follows the last check.
  { name: 'heartbeat_downtime' },
  { name: 'heartbeats' },
  { name: 'alert_ssl_told' },
  { name: 'alert_subscriptions' },
  { name: 'check_alert_states' },
  { name: 'status_page_service_checks' },
  { name: 'error_groups' },
  { name: 'checks', rowsAtOnce: 500, noun: 'check' },

  { name: 'status_page_deliveries' },
  { name: 'status_page_announcements' },
  { name: 'status_page_subscribers' },
  { name: 'status_page_pictures', rowsAtOnce: 20 },
  { name: 'status_page_card_services' },
  { name: 'status_page_cards' },
  { name: 'status_page_incident_services' },
  { name: 'status_page_incident_updates' },
  { name: 'status_page_incidents' },
  { name: 'status_page_services' },
  { name: 'status_pages', noun: 'status page' },
  { name: 'incident_updates' },
  { name: 'incidents' },

  { name: 'monitoring_problems' },
  { name: 'alert_deliveries' },
  { name: 'check_alerts' },
  { name: 'alert_channels', rowsAtOnce: 100, noun: 'alert channel' },
  { name: 'account_alert_settings' },

  { name: 'check_group_run_checks', by: 'groupRuns' },
  { name: 'check_group_runs' },
  { name: 'check_groups', rowsAtOnce: 500 },
  { name: 'maintenance_windows' },
  { name: 'client_certificates' },
  { name: 'snippets' },
  { name: 'variables' },

  { name: 'root_cause_analyses' },
  { name: 'root_cause_model_days' },
  { name: 'test_session_results' },
  { name: 'test_sessions' },
  { name: 'heartbeat_events' },
  { name: 'check_statuses' },

  { name: 'check_results', isPartitioned: true, ...byCheck, noun: 'result' },
  { name: 'result_metrics', isPartitioned: true, ...byCheck },
  { name: 'result_rollups', isPartitioned: true, ...byCheck },
  { name: 'missed_slots', ...byCheck },
  { name: 'missed_days', ...byCheck },
  { name: 'rollup_marks', ...byCheck },

  { name: 'idempotency_keys' },
  { name: 'audit_log', ...byPosition },
  { name: 'events', ...byPosition },
  { name: 'event_floors' },
];
