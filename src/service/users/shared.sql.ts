/** The statements of this feature that other features run, and their types. */
export {
  findUser,
  findUserByEmail,
  hasOtherAdminUser,
  noteSignIn,
  type StoredUser,
  updatePassword,
} from './sql.ts';
