import {
  PLAN_FEATURES,
  PLAN_LIMITS,
  type PlanFeature,
  type PlanLimit,
  type Plans,
  planOf,
  UNLIMITED,
} from '../../model/account/plan.ts';
import { type SubMinuteFields, subMinuteProblem } from '../../model/schedule/frequency.ts';
import type { Sql } from '../database/store.ts';
import { conflict, invalid, ServiceError } from '../errors.ts';
import { bodyProblem } from '../http/resources/input-problems.ts';
import { countOfPlan, lockAccount } from './sql.ts';

/** The limits of an account's plan. */
export interface Allowance {
  /**
   * Call it before the resource is created, in the same transaction. If the plan limits the resource, no
   * other transaction can create one in the account until this one ends.
   *
   * @throws ServiceError 402 where the plan's limit is reached
   */
  grow(tx: Sql, accountId: string, resource: PlanLimit): Promise<void>;
  /** @throws ServiceError 402 where the plan does not have the feature */
  need(accountId: string, feature: PlanFeature): void;
  /**
   * Judges only what a change adds: the check keeps what it has from a larger plan, and can still be
   * changed otherwise.
   *
   * @param before null for a new check
   * @throws ServiceError 402 that says what the plan has instead; 400 for a period that the service refuses
   */
  admitCheck(accountId: string, check: LimitedCheck, before: LimitedCheck | null): void;
  /** `admitCheck` for a group, whose locations replace those of its checks. */
  admitLocations(accountId: string, group: LimitedLocations, before: LimitedLocations | null): void;
}

export interface LimitedLocations {
  readonly locations: readonly string[] | null;
  readonly privateLocations: readonly string[] | null;
}

/** The fields of a check that a plan or the operator limits. */
export interface LimitedCheck extends LimitedLocations, SubMinuteFields {
  readonly runParallel: boolean;
}

/** @param allowsSubMinute whether checks of all types may run every few seconds (ALLOW_SUBMINUTE) */
export function createAllowance(plans: Plans, allowsSubMinute = false): Allowance {
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
    if (locationCount(after) > Math.max(limit, locationCount(before))) {
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
      const { frequency, frequencyOffset } = check;
      if (before?.frequency !== frequency || before.frequencyOffset !== frequencyOffset) {
        const problem = subMinuteProblem(check, allowsSubMinute);
        if (problem !== null) throw invalid([bodyProblem([problem.field], problem.message)]);
      }
      if (check.frequency === 0 && before?.frequency !== 0) need(accountId, 'subMinuteChecks');
      if (check.runParallel && before?.runParallel !== true) need(accountId, 'parallelRuns');
      admitLocations(accountId, check, before);
    },

    admitLocations,
  };
}

function locationCount(of: LimitedLocations | null): number {
  return (of?.locations?.length ?? 0) + (of?.privateLocations?.length ?? 0);
}

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

/**
 * Requires that an account has fewer than `limit` of a resource, whatever its plan. Until the transaction
 * ends no other one creates one.
 *
 * @throws ServiceError 409
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
  throw conflict(`An account has at most ${limit} ${name}`, { limit });
}
