/** The statements of this feature that other features run, and their types. */
export { findPrivateLocation, lockPrivateLocation } from './sql.ts';
