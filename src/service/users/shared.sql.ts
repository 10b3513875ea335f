/** The statements of this feature that other features run, and their types. */
export { deleteAdminInvitations, deleteInvitationsOf, deletePasswordLinks } from './links.sql.ts';
export {
  deleteMembership,
  findMember,
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
