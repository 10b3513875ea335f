/** The statements of this feature that other features run, and their types. */
export {
  deleteMembership,
  findUser,
  findUserByEmail,
  hasOtherAdminUser,
  insertUser,
  noteSignIn,
  putMembership,
  removePassword,
  type StoredUser,
  updatePassword,
} from './sql.ts';
