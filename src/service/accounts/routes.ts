import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { accountFields } from '../../model/account/account.ts';
import { notFound } from '../errors.ts';
import { callerOf } from '../http/access/authentication.ts';
import { READ } from '../http/access/route-roles.ts';
import { preconditionOf } from '../http/resources/etag.ts';
import { ignored, optionalFieldsOf, TIMES } from '../http/resources/resource-schemas.ts';
import type { Accounts, StoredAccount } from './accounts.ts';

const TAGS = ['Accounts'];
const PATH = '/v1/accounts';

const params = z.object({
  accountId: z.string().min(1).max(100).describe('The id of the account of the key.'),
});
const response = z
  .strictObject({
    id: z.string().describe('The id in paths, PLANS_FILE and `x-service-account`.'),
    ...accountFields,
    ...TIMES,
  })
  .meta({ title: 'Account' });
const changes = z.strictObject({
  ...optionalFieldsOf(accountFields),
  ...ignored(['created_at', 'updated_at']),
  id: z.string().optional().describe('The same as in the path.'),
});

/** The account of a key: src/service/README.md, "Accounts, keys and variables". */
export function accountsRoutes({ accounts }: { readonly accounts: Accounts }): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.get(
      PATH,
      {
        config: READ,
        schema: {
          tags: TAGS,
          operationId: 'listAccounts',
          summary: 'List the account of the key',
          response: { 200: z.array(response) },
        },
      },
      async (request) => [presentAccount(await accounts.read(callerOf(request).accountId))],
    );

    app.get(
      `${PATH}/:accountId`,
      {
        config: READ,
        schema: {
          tags: TAGS,
          operationId: 'getAccount',
          summary: 'Read the account of the key',
          params,
          response: { 200: response },
        },
      },
      async (request) => {
        const { accountId } = callerOf(request);
        if (request.params.accountId !== accountId) throw notFound('account');
        return presentAccount(await accounts.read(accountId));
      },
    );

    app.route({
      method: ['PUT', 'PATCH'],
      url: `${PATH}/:accountId`,
      config: { role: 'admin', conditional: true },
      schema: {
        tags: TAGS,
        operationId: 'updateAccount',
        summary: 'Change the name or the time zone of the account',
        description: 'Omitted fields do not change.',
        params,
        body: changes,
        response: { 200: response.describe('The account, as it is now.') },
      },
      handler: async (request) => {
        const { accountId } = callerOf(request);
        if (request.params.accountId !== accountId) throw notFound('account');
        const precondition = preconditionOf(request, presentAccount);
        return presentAccount(await accounts.update(accountId, request.body, precondition));
      },
    });
  };
}

function presentAccount({
  id,
  name,
  timeZone,
  createdAt,
  updatedAt,
}: StoredAccount): z.output<typeof response> {
  return {
    id,
    name,
    timeZone,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt?.toISOString() ?? null,
  };
}
