/** The statements of this feature that other features run, and their types. */
export {
  countAccounts,
  findAccount,
  findFirstAccount,
  insertAccount,
  lockAccount,
  lockFirstAccount,
} from './sql.ts';
