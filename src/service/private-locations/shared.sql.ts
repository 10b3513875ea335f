/** The statements of this feature that other features run, and their types. */
export { CHECK_SILENT_SINCE } from './silence.sql.ts';
export { findLocationsOfSlugs, findPrivateLocation, lockPrivateLocation } from './sql.ts';
