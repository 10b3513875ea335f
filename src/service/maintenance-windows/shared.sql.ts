/** The statements of this feature that other features run, and their types. */
export { pausesOf, type StoredWindow, windowsNear, windowsSince } from './sql.ts';
