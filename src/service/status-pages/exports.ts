/** The statements of this feature that other features run, and their types. */
export { holdServices } from './services.sql.ts';
