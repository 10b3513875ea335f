/** The statements of this feature that other features run, and their types. */
export { MAY_BEGIN } from './claims.sql.ts';
