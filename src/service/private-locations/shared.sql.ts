/** The statements of this feature that other features run, and their types. */
export { CHECK_SILENT_SINCE } from './silent-locations.sql.ts';
export { findLocationsOfSlugs, findPrivateLocation, lockPrivateLocation } from './sql.ts';
