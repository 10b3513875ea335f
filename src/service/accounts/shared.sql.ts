/** The statements of this feature that other features run, and their types. */
export { lockAccount } from './sql.ts';
