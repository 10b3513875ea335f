/** The statements of this feature that other features run. */
export { announceIncident, announceUpdates } from './announcements.sql.ts';
