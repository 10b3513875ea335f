import {
  PLAN_FEATURES,
  PLAN_LIMITS,
  type PlanFeature,
  type PlanLimit,
  type Plans,
  planOf,
  UNLIMITED,
} from '../../model/account/plan.ts';
import type { Sql } from '../database/port.ts';
import { ServiceError } from '../errors.ts';
import { countOfPlan } from './plan-usage.sql.ts';
import { lockAccount } from './sql.ts';

/** What an account may have by its plan. */
export interface Allowance {
  /**
   * To be called in the transaction that creates one more, before it does. Until that ends, nobody
   * else creates one of the kind in the account, where the plan limits it.
   *
   * @throws ServiceError 402 where the plan's limit is met
   */
  grow(tx: Sql, accountId: string, resource: PlanLimit): Promise<void>;
  /** @throws ServiceError 402 where the plan does not have it */
  need(accountId: string, feature: PlanFeature): void;
  /**
   * Judges what a check asks for that it does not have yet: what it has from a larger plan it keeps,
   * and all else of it can be changed.
   *
   * @param before null for a check that is made
   * @throws ServiceError 402 that says what the plan has instead
   */
  admitCheck(accountId: string, check: LimitedCheck, before: LimitedCheck | null): void;
  /** The same of a group, whose locations stand in for those of its checks. */
  admitLocations(accountId: string, group: LimitedLocations, before: LimitedLocations | null): void;
}

/** Where something runs. */
export interface LimitedLocations {
  readonly locations: readonly string[] | null;
  readonly privateLocations: readonly string[] | null;
}

/** The fields of a check that a plan limits. */
export interface LimitedCheck extends LimitedLocations {
  readonly frequency: number;
  readonly runParallel: boolean;
}

export function createAllowance(plans: Plans): Allowance {
  const need = (accountId: string, feature: PlanFeature): void => {
    const plan = planOf(plans, accountId);
    if (plan.features[feature] === false) {
      throw notInPlan(plan, `${PLAN_FEATURES[feature]} are not in it`, { feature });
    }
  };
  const admitLocations: Allowance['admitLocations'] = (accountId, after, before) => {
    const plan = planOf(plans, accountId);
    const allowed: readonly string[] = [...plan.locations, ...(before?.locations ?? [])];
    const foreign = after.locations?.find((location) => !allowed.includes(location));
    if (foreign !== undefined) {
      throw notInPlan(plan, `the location ${foreign} is not in it`, { location: foreign });
    }
    const limit = plan.maxLocationsPerCheck;
    if (placesOf(after) > Math.max(limit, placesOf(before))) {
      throw notInPlan(plan, `locations of a check: ${limit} at most`, { limit });
    }
  };
  return {
    async grow(tx, accountId, resource) {
      const plan = planOf(plans, accountId);
      const limit = plan.limits[resource];
      if (limit === undefined) return;
      await lockAccount(tx, accountId);
      if ((await countOfPlan(tx, { accountId, resource, upTo: limit })) < limit) return;
      const text = `${PLAN_LIMITS[resource].toLowerCase()}: ${limit} at most`;
      throw notInPlan(plan, text, { resource, limit });
    },

    need,

    admitCheck(accountId, check, before) {
      if (check.frequency === 0 && before?.frequency !== 0) need(accountId, 'subMinuteChecks');
      if (check.runParallel && before?.runParallel !== true) need(accountId, 'parallelRuns');
      admitLocations(accountId, check, before);
    },

    admitLocations,
  };
}

function placesOf(of: LimitedLocations | null): number {
  return (of?.locations?.length ?? 0) + (of?.privateLocations?.length ?? 0);
}

/** Where no plan limits anything. */
export const unlimited: Allowance = createAllowance(UNLIMITED);

function notInPlan(
  { name, displayName }: { readonly name: string; readonly displayName: string },
  what: string,
  attributes: Readonly<Record<string, unknown>>,
): ServiceError {
  return new ServiceError(402, `The plan ${displayName} does not allow it: ${what}`, {
    attributes: { plan: name, ...attributes },
  });
}
