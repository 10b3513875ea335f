import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { callerOf } from '../../http/access/authentication.ts';
import { whileClientWaits } from '../../http/request-signal.ts';
import { uuidParam } from '../../http/resources/parameters.ts';
import { DOMAIN_PROBLEMS, type DomainChecks } from './domain-check.ts';

const response = z.strictObject({
  customDomain: z.string().describe('The custom domain of the page.'),
  isReady: z.boolean().describe('Whether readers get the page there, by HTTPS.'),
  addresses: z
    .array(z.string())
    .describe(
      'Its addresses as the name servers of the service return them, without those that DELIVERY_DENY denies.',
    ),
  cname: z
    .string()
    .nullable()
    .describe(
      'The name that it is an alias of; null for none, and if all its addresses are denied.',
    ),
  problem: z
    .enum(DOMAIN_PROBLEMS)
    .nullable()
    .describe(
      'UNKNOWN_NAME: there is no record. NO_ANSWER: no server answers, or DELIVERY_DENY denies all addresses. OTHER_SERVER: the answer is not from this service. NO_TLS: it works by HTTP only.',
    ),
  advice: z.string().describe('What to do.'),
});

/** Whether the custom domain of a page leads to it. */
export function domainCheckRoutes({
  domainChecks,
  stopping,
}: {
  readonly domainChecks: DomainChecks;
  readonly stopping: AbortSignal;
}): FastifyPluginAsync {
  return async (app) => {
    app.withTypeProvider<ZodTypeProvider>().post(
      '/v1/status-pages/:statusPageId/domain-check',
      {
        config: { role: 'write', audit: { none: 'a check of a domain changes nothing' } },
        schema: {
          tags: ['Status pages'],
          operationId: 'checkStatusPageDomain',
          summary: 'Check that the custom domain of a status page leads to it',
          description:
            'Resolves the domain and requests the page from it, within 15 s. The response says what to do: which record to set, or what the proxy lacks.',
          params: z.object({ statusPageId: uuidParam }),
          response: { 200: response.describe('What was found at the domain.') },
        },
      },
      async (request, reply) => {
        const { accountId } = callerOf(request);
        const { statusPageId: id } = request.params;
        const found = await whileClientWaits(reply, stopping, (signal) =>
          domainChecks.check({ accountId, id }, signal),
        );
        return { ...found, addresses: [...found.addresses] };
      },
    );
  };
}
