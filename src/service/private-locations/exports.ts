/** The statements of this feature that other features run, and their types. */
export { findPrivateLocation, type LocationKeyOf, lockPrivateLocation } from './sql.ts';
