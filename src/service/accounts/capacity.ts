import type { PlanLimit } from '../../model/account/plan.ts';
import type { Sql } from '../database/port.ts';
import { conflict } from '../errors.ts';
import { countOfPlan } from './plan-usage.sql.ts';
import { lockAccount } from './sql.ts';

/**
 * For one more of what no plan lets an account have any number of. Until the transaction ends,
 * nobody else makes one.
 *
 * @throws ServiceError 409 where there are as many as there can be
 */
export async function requireCapacity(
  tx: Sql,
  accountId: string,
  {
    resource,
    limit,
    name,
  }: { readonly resource: PlanLimit; readonly limit: number; readonly name: string },
): Promise<void> {
  await lockAccount(tx, accountId);
  if ((await countOfPlan(tx, { accountId, resource, upTo: limit })) < limit) return;
  throw conflict(`An account has ${limit} ${name} at most`, { limit });
}
