/** The statements of this feature that other features run, and their types. */
export { secretsRevisionOf } from './sql.ts';
