import { bytesOf } from '../database/lists/page-entries.ts';

/** The differences between the statements for the two kinds of incidents. */
export interface IncidentTables {
  readonly incidents: string;
  /** Both tables of updates have the same columns. */
  readonly updates: string;
  /** Select list of the fields that only this kind has, for the incident `i`. */
  readonly fields: string;
  /** An expression for the approximate size of an incident with its first update, in bytes. */
  readonly bytes: string;
  /** A condition on an incident. */
  readonly isOpen: string;
  /** Assignments to the incident `i`, beside updated_at, when a person changes it or its updates. */
  readonly onEdit: string;
  /** Further assignments after a change of its updates. */
  readonly afterUpdates: string;
}

/** The approximate size of an incident with its first update. */
const USUAL_BYTES = 8_192;
/** Fields only page incidents have, except the post-mortem. */
const PAGE_FIELDS = `i.severity, i.is_draft, i.last_update_status, array(
      select s.service_id from status_page_incident_services s
      where s.account_id = i.account_id and s.incident_id = i.id order by s.position
    ) as services`;

export const DASHBOARD_TABLES: IncidentTables = {
  incidents: 'incidents',
  updates: 'incident_updates',
  fields: 'i.impact, i.dashboard_id, i.started_at, i.stopped_at',
  bytes: `${USUAL_BYTES}`,
  isOpen: 'stopped_at is null',
  onEdit: '',
  afterUpdates: '',
};

export const PAGE_TABLES: IncidentTables = {
  incidents: 'status_page_incidents',
  updates: 'status_page_incident_updates',
  fields: `${PAGE_FIELDS}, i.post_mortem`,
  bytes: `${USUAL_BYTES} + coalesce(${bytesOf('post_mortem')}, 0)`,
  isOpen: "last_update_status <> 'RESOLVED'",
  onEdit: ', is_edited = true',
  // After RESOLVED, the check that opened the incident no longer changes it.
  afterUpdates: `, (last_update_status, follows_check) = (
      select u.status, i.follows_check and u.status <> 'RESOLVED'
      from status_page_incident_updates u
      where u.account_id = i.account_id and u.incident_id = i.id order by u.n desc limit 1
    )`,
};

/** Tables for readers of pages: without the post-mortem, which they do not see while an incident is open. */
export const OPEN_PAGE_TABLES: IncidentTables = {
  ...PAGE_TABLES,
  fields: `${PAGE_FIELDS}, null::text as post_mortem`,
};
