/** The statements of this feature that other features run, and their types. */
export { tellLocation } from './assignment/location-changes.sql.ts';
export { isKnownAgent } from './sql.ts';
