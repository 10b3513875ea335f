/** The statements of this feature that other features run, and their types. */
export { lockServicesShared } from './services.sql.ts';
