/** Names a resource. Ids come from requests, so statements always name the account as well. */
export interface AccountKey<Id extends string | number = string> {
  readonly accountId: string;
  readonly id: Id;
}
