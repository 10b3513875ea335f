import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';

const PATH = '/v1/static-ipv6s.txt';
const TEXT = 'text/plain; charset=utf-8';

/** The source addresses of checks, for firewalls: src/service/README.md, "IPv6 addresses". */
export function staticIpv6sRoutes({
  staticIpv6s,
}: {
  /** As the configuration has them. */
  readonly staticIpv6s: readonly string[];
}): FastifyPluginAsync {
  const body = staticIpv6s.map((address) => `${address}\n`).join('');
  return async (untyped) => {
    untyped.withTypeProvider<ZodTypeProvider>().get(
      PATH,
      {
        config: { role: 'read' },
        schema: {
          tags: ['Locations'],
          operationId: 'listStaticIpv6s',
          summary: 'List the IPv6 addresses that checks of the public locations come from',
          response: {
            200: {
              description: 'One address or network on each line; empty if none is set.',
              content: { 'text/plain': { schema: z.string() } },
            },
          },
        },
      },
      async (_request, reply) => reply.type(TEXT).serializer(String).send(body),
    );
  };
}
