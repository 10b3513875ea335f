/** What the statements of checks read of heartbeats. */
export { HEARTBEAT_OF_CHECK, type HeartbeatOfCheck } from './sql.ts';
