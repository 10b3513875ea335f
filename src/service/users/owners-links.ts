/** For the terminal of the owner; null if the link is not offered. At most one of them is. */
export interface OwnersLinks {
  /** Signs in without a password, once. */
  readonly signInUrl: string | null;
  /** Makes the first user, once. */
  readonly setupUrl: string | null;
}
