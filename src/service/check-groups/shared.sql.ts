/** The statements of this feature that other features run, and their types. */
export { findGroup, groupsNamingLocation, lockGroupShared } from './sql.ts';
