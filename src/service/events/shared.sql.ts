/** What other features use of the statements of this one. */
export { EVENTS_CHANNEL } from './sql.ts';
