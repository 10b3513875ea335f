/** For the terminal of the owner; null if a link is not offered. At most one is offered. */
export interface OwnersLinks {
  /** Signs in without a password, once. */
  readonly signInUrl: string | null;
  /** Makes the first user, once. */
  readonly setupUrl: string | null;
}
