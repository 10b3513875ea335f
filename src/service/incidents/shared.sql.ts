/** The statements of this feature that other features run, and their types. */
export {
  openIncidentsNaming,
  openIncidentsOfPage,
  type StoredPageIncident,
  severitiesOfPage,
} from './page-incidents.sql.ts';
