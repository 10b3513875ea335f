/** The statements of this feature that other features run, and their types. */
export { type HeartbeatDowntime, readDowntime } from './downtime.sql.ts';
export {
  HEARTBEAT_OF_CHECK,
  HEARTBEAT_OF_STATUS,
  type HeartbeatOfCheck,
  type HeartbeatOfStatus,
} from './sql.ts';
