/** The statements of this feature that other features run. */
export { HAS_OPEN_TRIALS } from './claims.sql.ts';
