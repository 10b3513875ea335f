import type { Sql } from '../../store/port.ts';

/** What a plan can limit the number of. */
export const LIMITED_RESOURCES = [
  'checks',
  'heartbeats',
  'checkGroups',
  'privateLocations',
  'alertChannels',
  'maintenanceWindows',
  'statusPages',
  'clientCertificates',
  'snippets',
  'variables',
] as const;
export type LimitedResource = (typeof LIMITED_RESOURCES)[number];

/** What an account may still have by its plan. */
export interface Allowance {
  /**
   * To be called in the transaction that creates one more, before it does. Until that ends, nobody
   * else creates one of the kind in the account, where the plan limits it.
   *
   * @throws ServiceError 402 where the plan's limit is met
   */
  grow(tx: Sql, accountId: string, resource: LimitedResource): Promise<void>;
}

/** Where no plan limits anything. */
export const unlimited: Allowance = { grow: async () => {} };
