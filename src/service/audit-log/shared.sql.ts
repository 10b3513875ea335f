/** The statements of this feature that other features run, and their types. */
export { insertEntry, recordOfUser } from './sql.ts';
