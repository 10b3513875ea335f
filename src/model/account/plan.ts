import { z } from 'zod';
import { LOCATIONS } from '../enums.ts';

/** The limits of a plan, with their descriptions. */
export const PLAN_LIMITS = {
  checks: 'Checks of all types that agents run',
  heartbeats: 'Heartbeat checks',
  checkGroups: 'Groups of checks',
  privateLocations: 'Private locations',
  alertChannels: 'Alert channels',
  maintenanceWindows: 'Maintenance windows',
  statusPages: 'Status pages',
  clientCertificates: 'Client certificates',
  snippets: 'Snippets',
  variables: 'Variables',
} as const;
export type PlanLimit = keyof typeof PLAN_LIMITS;

/** The features of a plan, with their descriptions. */
export const PLAN_FEATURES = {
  subMinuteChecks: 'Checks that run every 10, 20 or 30 seconds',
  parallelRuns: 'Checks that run in all of their locations at once',
  rootCauseAnalysis: 'Analyses of root causes on request',
} as const;
export type PlanFeature = keyof typeof PLAN_FEATURES;

/** No check can have more locations, so a plan with this maximum does not limit them. */
export const MAX_LOCATIONS_PER_CHECK = 1_000;

const optionalOf = <Name extends string, Schema extends z.ZodType>(
  names: Readonly<Record<Name, string>>,
  schema: Schema,
) =>
  z.strictObject(
    Object.fromEntries(Object.keys(names).map((name) => [name, schema.optional()])) as Record<
      Name,
      z.ZodOptional<Schema>
    >,
  );

const name = z.string().min(1).max(100);
const addonSchema = z.strictObject({ tier: name, tierDisplayName: name });
const NO_ADDON = { tier: 'none', tierDisplayName: 'None' };

const planSchema = z.strictObject({
  displayName: name,
  /** Omitted: not limited. */
  limits: optionalOf(PLAN_LIMITS, z.int().min(0)).default({}),
  /** Omitted: the plan has the feature. */
  features: optionalOf(PLAN_FEATURES, z.boolean()).default({}),
  maxLocationsPerCheck: z
    .int()
    .min(1)
    .max(MAX_LOCATIONS_PER_CHECK)
    .default(MAX_LOCATIONS_PER_CHECK),
  /** Public locations that its checks may name; default: all. */
  locations: z.array(z.enum(LOCATIONS)).default([...LOCATIONS]),
  addons: z
    .strictObject({
      communicate: addonSchema.default(NO_ADDON),
      resolve: addonSchema.default(NO_ADDON),
    })
    .default({ communicate: NO_ADDON, resolve: NO_ADDON }),
});
export type Plan = z.output<typeof planSchema>;

/** The plans of a service, the smallest first, and the plans of accounts. */
export const plansSchema = z
  .strictObject({
    plans: z.record(name, planSchema),
    /** The plan of accounts that are not named below. */
    default: name,
    accounts: z.record(z.string(), name).default({}),
  })
  .superRefine(({ plans, default: standard, accounts }, context) => {
    const named = [['default', standard] as const, ...Object.entries(accounts)];
    for (const [account, plan] of named) {
      if (Object.hasOwn(plans, plan)) continue;
      const path = account === 'default' ? ['default'] : ['accounts', account];
      const message = `must be one of the plans: ${Object.keys(plans).join(', ')}`;
      context.addIssue({ code: 'custom', path, message });
    }
  });
export type Plans = z.output<typeof plansSchema>;

/** Nothing is limited by default (src/service/README.md, "Plans"). */
export const UNLIMITED: Plans = plansSchema.parse({
  plans: {
    unlimited: {
      displayName: 'Unlimited',
      addons: {
        communicate: { tier: 'unlimited', tierDisplayName: 'Unlimited' },
        resolve: { tier: 'unlimited', tierDisplayName: 'Unlimited' },
      },
    },
  },
  default: 'unlimited',
});

/** An account's plan, and its name. */
export function planOf(plans: Plans, accountId: string): Plan & { readonly name: string } {
  // `accounts` inherits properties such as `constructor`.
  const named = Object.hasOwn(plans.accounts, accountId) ? plans.accounts[accountId] : undefined;
  const own = named ?? plans.default;
  const plan = plans.plans[own];
  if (plan === undefined) throw new RangeError(`there is no plan ${own}`);
  return { name: own, ...plan };
}
