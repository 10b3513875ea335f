/** The statements of this feature that other features run, and their types. */
export { CAN_RUN, type LeaseHolder, MAY_BEGIN } from './claims.sql.ts';
