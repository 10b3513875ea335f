/** The statements of this feature that other features run, and their types. */
export { IS_TO_BE_CANCELLED } from './cancelling.sql.ts';
export { CAN_RUN, type LeaseHolder, MAY_BEGIN } from './claims.sql.ts';
export { locationsOfGroup } from './locations.sql.ts';
export {
  HAS_FEATURES,
  NEEDED_FEATURES,
  SENT_SCRIPTS,
  SENT_SCRIPTS_BYTES,
} from './needed-features.sql.ts';
