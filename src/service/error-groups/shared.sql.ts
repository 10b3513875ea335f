/** The statements of this feature that other features run, and their types. */
export { findErrorGroup } from './sql.ts';
