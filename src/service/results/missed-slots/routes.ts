import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { callerOf } from '../../http/access/authentication.ts';
import { READ } from '../../http/access/route-roles.ts';
import { checkId } from '../../http/resources/check-parameters.ts';
import { pageOf } from '../../http/resources/cursor-paging.ts';
import { SHOWN_CHECK } from '../../http/resources/shown-fields.ts';
import { parseWindow, windowQuery } from '../../http/resources/window-parameters.ts';
import type { MissedRow, MissedSlotsFeature } from './missed-slots.ts';

const response = z.array(
  z.strictObject({
    checkId: SHOWN_CHECK.checkId,
    location: z.string().describe('The slug of the location that should have made the run.'),
    slot: z.iso.datetime().describe('The first missed slot.'),
    lastSlot: z.iso
      .datetime()
      .describe('The last missed slot; equal to `slot` if there is only one.'),
    count: z.int().min(1).describe('The number of slots, evenly spaced.'),
    reason: z.string().describe('Why; the documentation has a table of the reasons.'),
  }),
);

/** Lists the slots that were not run: every slot has either a result or a reason. */
export function missedSlotsRoutes({
  missedSlots,
}: {
  readonly missedSlots: MissedSlotsFeature;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.get(
      '/v1/missed-slots/:checkId',
      {
        config: READ,
        schema: {
          tags: ['Missed slots'],
          operationId: 'listMissedSlots',
          summary: 'List the missed slots of a check, newest first',
          params: z.object({ checkId }),
          querystring: z.strictObject(windowQuery),
          response: { 200: response },
        },
      },
      async (request, reply) => {
        const page = pageOf(request, reply);
        const { accountId } = callerOf(request);
        const found = await missedSlots.list(accountId, request.params.checkId, {
          ...page,
          ...parseWindow(request.query, page.begunMs),
        });
        return found.map(presentMissed);
      },
    );
  };
}

function presentMissed({ slot, lastSlot, ...row }: MissedRow): z.output<typeof response>[number] {
  return {
    ...row,
    slot: new Date(slot).toISOString(),
    lastSlot: new Date(lastSlot).toISOString(),
  };
}
