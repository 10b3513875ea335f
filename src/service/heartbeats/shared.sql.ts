/** The statements of this feature that other features run, and their types. */
export { type HeartbeatDowntime, readDowntime } from './downtime.sql.ts';
export { HEARTBEAT_OF_CHECK, type HeartbeatOfCheck } from './sql.ts';
