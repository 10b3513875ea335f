/** The statements of this feature that other features run, and their types. */
export { insertEntry, recordByUser } from './sql.ts';
