/** The statements of this feature that other features run, and their types. */
export {
  type PublicIncident,
  publicIncident,
  publicIncidentsSince,
  publicIncidentsStarted,
  publicUpdatesOf,
} from './history.sql.ts';
export {
  openIncidentsNaming,
  openIncidentsOfPage,
  type StoredPageIncident,
} from './status-page-incidents.sql.ts';
