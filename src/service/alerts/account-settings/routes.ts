import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import {
  type AccountAlertSettings,
  accountAlertSettingsSchema,
  wholeAlertSettings,
} from '../../../model/alerting/alert-settings.ts';
import { callerOf } from '../../http/access/authentication.ts';
import { READ } from '../../http/access/route-roles.ts';
import { preconditionOf } from '../../http/resources/etag.ts';
import { optionalFieldsOf } from '../../http/resources/resource-schemas.ts';
import type { AccountAlertSettingsFeature } from './account-alert-settings.ts';

const TAGS = ['Alert settings'];
const ADMIN = { role: 'admin' } as const;
const PATH = '/v1/accounts/:accountId/alert-settings';

const params = z.object({ accountId: z.string().describe('The id of the account of the key.') });
const changes = z.strictObject(optionalFieldsOf(accountAlertSettingsSchema.shape));

/** The alert settings of an account: src/service/README.md, "Alerts". */
export function alertSettingsRoutes({
  alertSettings,
}: {
  readonly alertSettings: AccountAlertSettingsFeature;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.get(
      PATH,
      {
        config: READ,
        schema: {
          tags: TAGS,
          operationId: 'getAlertSettings',
          summary: 'Read the alert settings of the account',
          description: 'Includes the defaults of fields that were never set.',
          params,
          response: { 200: accountAlertSettingsSchema },
        },
      },
      async (request) => {
        const { accountId } = callerOf(request);
        return wholeSettings(await alertSettings.read(accountId, request.params.accountId));
      },
    );

    app.route({
      method: ['PUT', 'PATCH'],
      url: PATH,
      config: { ...ADMIN, conditional: true },
      schema: {
        tags: TAGS,
        operationId: 'updateAlertSettings',
        summary: 'Change the alert settings of the account',
        description:
          'Omitted fields do not change; each given field replaces the stored one as a whole. From the next run, they apply to checks and groups with `useGlobalAlertSettings`, and `escalationStep` to all.',
        params,
        body: changes,
        response: { 200: accountAlertSettingsSchema },
      },
      handler: async (request) => {
        const { accountId } = callerOf(request);
        const { params: asked, body } = request;
        const precondition = preconditionOf(request, wholeSettings);
        return wholeSettings(
          await alertSettings.update(accountId, asked.accountId, body, precondition),
        );
      },
    });
  };
}

function wholeSettings({
  escalationStep,
  ...settings
}: AccountAlertSettings): AccountAlertSettings {
  return { ...wholeAlertSettings(settings), escalationStep };
}
