import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Plans } from '../../model/account/plan.ts';
import { notFound } from '../errors.ts';
import { callerOf } from '../http/access/authentication.ts';
import type { PrivateLocations } from '../private-locations/private-locations.ts';
import type { Accounts } from './accounts.ts';
import { entitlementsOf } from './entitlements.ts';

const addon = z.strictObject({
  tier: z.string().describe('The tier of the addon, as PLANS_FILE names it; `none` without it.'),
  tierDisplayName: z.string().describe('The name of the tier for people.'),
});
const response = z.strictObject({
  plan: z.string().describe('The plan of the account, as PLANS_FILE names it.'),
  planDisplayName: z.string().describe('The name of the plan for people.'),
  locations: z
    .strictObject({
      all: z
        .array(
          z.strictObject({
            id: z.string().describe('The public location, or the slug of the private one.'),
            name: z.string().describe('The name of the location.'),
            available: z
              .boolean()
              .describe(
                'Whether checks can run there: an agent of the private location is connected. No agent serves public locations.',
              ),
          }),
        )
        .describe('The public locations, and the first 1,000 private ones by slug.'),
      maxPerCheck: z.number().describe('How many locations a check may name.'),
    })
    .describe('Where checks may run.'),
  entitlements: z
    .array(
      z.strictObject({
        key: z.string().describe('The limit or feature, as PLANS_FILE names it.'),
        name: z.string().describe('Its name for people.'),
        description: z.string().describe('What it is.'),
        type: z
          .enum(['flag', 'metered'])
          .describe('`metered` can have a limit; a `flag` is there or not.'),
        enabled: z.boolean().describe('Whether the plan has it.'),
        quantity: z.number().optional().describe('The limit; omitted if there is none.'),
        used: z
          .number()
          .optional()
          .describe(
            'How many the account has, which may be more than the limit; omitted for flags.',
          ),
        requiredPlan: z
          .string()
          .optional()
          .describe('The first plan that has it, or more of it; omitted if none has.'),
        requiredPlanDisplayName: z
          .string()
          .optional()
          .describe('The name of that plan for people.'),
      }),
    )
    .describe(
      'The limits and features of the plan. None has a `requiredAddon`, because addons limit nothing.',
    ),
  addons: z
    .strictObject({
      communicate: addon.describe('The addon for status pages and notifications.'),
      resolve: addon.describe('The addon for finding causes.'),
    })
    .describe('The addons of the plan. They limit nothing.'),
});

/** The limits and features of an account's plan: src/service/README.md, "Plans". */
export function entitlementsRoutes({
  accounts,
  plans,
  privateLocations,
}: {
  readonly accounts: Pick<Accounts, 'counts'>;
  readonly plans: Plans;
  readonly privateLocations: Pick<PrivateLocations, 'availability'>;
}): FastifyPluginAsync {
  return async (untyped) => {
    untyped.withTypeProvider<ZodTypeProvider>().get(
      '/v1/accounts/:accountId/entitlements',
      {
        config: { role: 'read' },
        schema: {
          tags: ['Accounts'],
          operationId: 'getEntitlements',
          summary: 'Read the plan of the account',
          params: z.object({
            accountId: z.string().min(1).max(100).describe('The id of the account.'),
          }),
          response: { 200: response },
        },
      },
      async (request) => {
        const { accountId } = callerOf(request);
        if (request.params.accountId !== accountId) throw notFound('account');
        const use = {
          privateLocations: await privateLocations.availability(accountId),
          counts: await accounts.counts(accountId),
        };
        const { locations, entitlements, ...rest } = entitlementsOf(plans, accountId, use);
        return {
          ...rest,
          locations: { ...locations, all: [...locations.all] },
          entitlements: [...entitlements],
        };
      },
    );
  };
}
