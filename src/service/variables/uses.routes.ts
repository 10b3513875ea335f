import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { variableKeySchema } from '../../model/check/variable.ts';
import { callerOf } from '../http/access/authentication.ts';
import { asShown, namedCheck } from '../http/resources/shown-fields.ts';
import { MAX_CHECKS, MAX_CHECKS_OF_ONE, MAX_KEYS, MAX_READ, type VariableUses } from './uses.ts';

/** Each looks at the requests of all checks. */
const REQUESTS_PER_MINUTE = 30;

const response = z.strictObject({
  uses: z
    .array(
      z.strictObject({
        key: asShown(variableKeySchema),
        isDefined: z
          .boolean()
          .describe(
            'Whether the account defines the variable. An agent may have a variable that the account does not define.',
          ),
        checkCount: z.int().describe('How many checks name it and do not define it themselves.'),
        checks: z
          .array(namedCheck)
          .describe(
            `The first of them by name: ${MAX_CHECKS}, or with \`key\` ${MAX_CHECKS_OF_ONE}.`,
          ),
      }),
    )
    .describe(`At most ${MAX_KEYS}: those that the account does not define first, then by key.`),
  droppedKeys: z.int().describe('How many more there are.'),
  isComplete: z
    .boolean()
    .describe(
      `false if more than ${MAX_READ} checks have placeholders: the others are not searched.`,
    ),
});

/** Which checks use which variables: src/service/README.md, "Uses of variables". */
export function variableUsesRoutes({
  variableUses,
}: {
  readonly variableUses: VariableUses;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.get(
      '/v1/variable-uses',
      {
        config: { role: 'read', rateLimit: { max: REQUESTS_PER_MINUTE } },
        schema: {
          tags: ['Variables'],
          operationId: 'listVariableUses',
          summary: 'List which checks use which variables',
          description:
            'Searches the requests of URL, API and TCP checks for placeholders. Text that is hidden as a credential is not searched, unless it consists of placeholders.',
          querystring: z.strictObject({
            key: variableKeySchema.optional().describe('Only this variable.'),
          }),
          response: { 200: response },
        },
      },
      async (request) => {
        const { key = null } = request.query;
        const { uses, ...rest } = await variableUses.list(callerOf(request).accountId, key);
        return { uses: uses.map((use) => ({ ...use, checks: [...use.checks] })), ...rest };
      },
    );
  };
}
