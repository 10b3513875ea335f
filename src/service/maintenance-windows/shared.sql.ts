/** The statements of this feature that other features run, and their types. */
export { pausesOf, windowsNear } from './sql.ts';
