import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { callerOf } from '../http/access/authentication.ts';
import type { Accounts } from './accounts.ts';

const response = z.strictObject({
  id: z.string().describe('The id in paths, PLANS_FILE and `x-service-account`.'),
  name: z.string(),
  created_at: z.iso.datetime(),
});

/** The account of a key. */
export function accountsRoutes({ accounts }: { readonly accounts: Accounts }): FastifyPluginAsync {
  return async (untyped) => {
    untyped.withTypeProvider<ZodTypeProvider>().get(
      '/v1/accounts',
      {
        config: { role: 'read' },
        schema: {
          tags: ['Accounts'],
          operationId: 'listAccounts',
          summary: 'List the account of the key',
          response: { 200: z.array(response) },
        },
      },
      async (request) => {
        const { id, name, createdAt } = await accounts.read(callerOf(request).accountId);
        return [{ id, name, created_at: createdAt.toISOString() }];
      },
    );
  };
}
