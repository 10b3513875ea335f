/** The statements of this feature that other features run. */
export { announceIncident, announceUpdates } from './messages/announcements.sql.ts';
