import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { callerOf, keyOf } from '../../http/access/authentication.ts';
import { uuidParam } from '../../http/resources/parameters.ts';
import { checkAlertSchema, presentAlert } from '../routes.ts';
import type { Acknowledgements } from './acknowledgements.ts';

const PATH = '/v1/check-alerts/:id';
const TAGS = ['Check alerts'];
const params = z.object({ id: uuidParam.describe('The id of the alert.') });

/** Acknowledges alerts by API: src/service/README.md, "Acknowledgement and escalation". */
export function acknowledgementsRoutes({
  acknowledgements,
}: {
  readonly acknowledgements: Acknowledgements;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.post(
      `${PATH}/acknowledge`,
      {
        config: { role: 'run', audit: { action: 'acknowledge' } },
        schema: {
          tags: TAGS,
          operationId: 'acknowledgeCheckAlert',
          summary: 'Acknowledge an open alert of a check',
          description:
            'Ends reminders and escalation until the check recovers or gets worse, and notifies the channels that were notified of the alert. An alert that is already acknowledged does not change. 409 for an alert that is not open.',
          params,
          response: { 200: checkAlertSchema.describe('The alert with its acknowledgement.') },
        },
      },
      async (request) => {
        const by = await acknowledgements.acknowledgerOf(callerOf(request));
        return presentAlert(await acknowledgements.acknowledge(keyOf(request), by));
      },
    );

    app.post(
      `${PATH}/unacknowledge`,
      {
        config: { role: 'run', audit: { action: 'unacknowledge' } },
        schema: {
          tags: TAGS,
          operationId: 'unacknowledgeCheckAlert',
          summary: 'Undo the acknowledgement of an open alert',
          description:
            'Reminders and escalation begin again, and the same channels are notified. 409 for an alert that is not open.',
          params,
          response: { 200: checkAlertSchema.describe('The alert without an acknowledgement.') },
        },
      },
      async (request) => {
        const by = await acknowledgements.acknowledgerOf(callerOf(request));
        return presentAlert(await acknowledgements.unacknowledge(keyOf(request), by));
      },
    );
  };
}
