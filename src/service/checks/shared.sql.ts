/** The statements of this feature that other features run, and their types. */
export {
  CHECK_STATE,
  CHECK_STATE_SINCE,
  CHECK_UNKNOWN_REASON,
  CHECKS_WITH_STATUS,
  type CheckFilter,
  checksMatching,
} from './check-filter.sql.ts';
export {
  CHECK_LOCATIONS,
  CHECK_RUN_LOCATIONS,
  PRIVATE_LOCATIONS_IN_FORCE,
} from './locations-in-force.sql.ts';
export {
  checksNamingLocation,
  findCheck,
  insertCheck,
  lockCheck,
  lockChecksShared,
  type StoredCheck,
  sealedVariablesOf,
  updateCheck,
} from './sql.ts';
export { findVariableUses, type VariableUse } from './variables/variable-uses.sql.ts';
