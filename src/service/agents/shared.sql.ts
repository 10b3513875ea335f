/** The statements of this feature that other features run, and their types. */
export { ASSIGNMENTS_CHANNEL, notifyLocation } from './assignment/location-changes.sql.ts';
export { findClockAhead, isKnownAgent, raiseClockAhead } from './sql.ts';
