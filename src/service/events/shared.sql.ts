/** The statements of this feature that other features use. */
export { EVENTS_CHANNEL } from './sql.ts';
