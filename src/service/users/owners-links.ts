/** Links for the terminal of the owner, at most one of which is not null. */
export interface OwnersLinks {
  /** Signs in without a password, once. */
  readonly signInUrl: string | null;
  /** Creates the first user, once. */
  readonly setupUrl: string | null;
}
