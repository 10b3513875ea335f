/** The statements of this feature that other features run, and their types. */
export { groupsNamingLocation, lockGroupShared } from './sql.ts';
