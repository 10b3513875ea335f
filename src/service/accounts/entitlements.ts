import {
  PLAN_FEATURES,
  PLAN_LIMITS,
  type Plan,
  type PlanFeature,
  type PlanLimit,
  type Plans,
  planOf,
} from '../../model/account/plan.ts';
import { LOCATIONS } from '../../model/enums.ts';
import type { LocationAvailability } from '../private-locations/private-locations.ts';

/** A feature of a plan, with its limit if it has one (src/service/README.md, "Plans"). */
export interface Entitlement {
  readonly key: string;
  readonly name: string;
  readonly description: string;
  readonly type: 'flag' | 'metered';
  readonly enabled: boolean;
  /** The limit; omitted if there is none, and for flags. */
  readonly quantity?: number;
  /** How many the account has; omitted for flags. */
  readonly used?: number;
  /** The first plan that has the feature if the account's plan does not, or that has a higher limit. */
  readonly requiredPlan?: string;
  readonly requiredPlanDisplayName?: string;
}

export interface EntitlementsOfAccount {
  readonly plan: string;
  readonly planDisplayName: string;
  readonly locations: {
    readonly all: readonly {
      readonly id: string;
      readonly name: string;
      readonly available: boolean;
    }[];
    readonly maxPerCheck: number;
  };
  readonly entitlements: readonly Entitlement[];
  readonly addons: Plan['addons'];
}

/** What an account has. */
export interface AccountUse {
  readonly privateLocations: readonly LocationAvailability[];
  readonly counts: Readonly<Record<PlanLimit, number>>;
}

export function entitlementsOf(
  plans: Plans,
  accountId: string,
  { privateLocations, counts }: AccountUse,
): EntitlementsOfAccount {
  const plan = planOf(plans, accountId);
  return {
    plan: plan.name,
    planDisplayName: plan.displayName,
    locations: {
      all: [
        // No agent serves public locations.
        ...LOCATIONS.map((id) => ({ id, name: id, available: false })),
        ...privateLocations.map(({ slug, name, hasAgent }) => ({
          id: slug,
          name,
          available: hasAgent,
        })),
      ],
      maxPerCheck: plan.maxLocationsPerCheck,
    },
    entitlements: [
      ...(Object.keys(PLAN_LIMITS) as PlanLimit[]).map((key) =>
        metered(plans, plan, { key, used: counts[key] }),
      ),
      ...(Object.keys(PLAN_FEATURES) as PlanFeature[]).map((key) => flag(plans, plan, key)),
    ],
    addons: plan.addons,
  };
}

function metered(
  plans: Plans,
  plan: Plan,
  { key, used }: { readonly key: PlanLimit; readonly used: number },
): Entitlement {
  const quantity = plan.limits[key];
  const more = (other: Plan): boolean =>
    quantity !== undefined && (other.limits[key] ?? Number.POSITIVE_INFINITY) > quantity;
  return {
    key,
    name: PLAN_LIMITS[key],
    description:
      quantity === undefined ? 'As many as wanted.' : `Up to ${quantity} in the account.`,
    type: 'metered',
    enabled: quantity !== 0,
    ...(quantity === undefined ? {} : { quantity }),
    used,
    ...firstWith(plans, more),
  };
}

function flag(plans: Plans, plan: Plan, key: PlanFeature): Entitlement {
  const enabled = plan.features[key] !== false;
  return {
    key,
    name: PLAN_FEATURES[key],
    description: enabled ? 'In the plan.' : 'Not in the plan.',
    type: 'flag',
    enabled,
    ...(enabled ? {} : firstWith(plans, (other) => other.features[key] !== false)),
  };
}

function firstWith(
  { plans }: Plans,
  has: (plan: Plan) => boolean,
): Pick<Entitlement, 'requiredPlan' | 'requiredPlanDisplayName'> {
  const found = Object.entries(plans).find(([, plan]) => has(plan));
  if (found === undefined) return {};
  const [requiredPlan, { displayName }] = found;
  return { requiredPlan, requiredPlanDisplayName: displayName };
}
