/** The statements of this feature that other features run, and their types. */
export {
  checksNamingLocation,
  findCheck,
  insertCheck,
  lockCheck,
  type StoredCheck,
  sealedVariablesOf,
  updateCheck,
} from './sql.ts';
