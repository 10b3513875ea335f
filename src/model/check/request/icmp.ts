import { z } from 'zod';
import { ASSERTION_SOURCES } from '../assertions/assertion.ts';
import { assertionsOf } from '../assertions/assertion-schema.ts';
import { hostname, ipFamily, refuseBothForAddress } from './shared-fields.ts';

/** The request of ICMP checks: src/model/README.md, "The check file". */

export const icmpRequestSchema = z
  .strictObject({
    hostname,
    pingCount: z
      .int()
      .min(1)
      .max(50)
      .default(10)
      .describe('The number of echo requests, sent 500 ms apart.'),
    ipFamily,
    assertions: assertionsOf(ASSERTION_SOURCES.ICMP),
  })
  .superRefine(({ hostname, ipFamily }, context) =>
    refuseBothForAddress(hostname, ipFamily, context),
  )
  .meta({ title: 'IcmpRequest' });
export type IcmpRequest = z.infer<typeof icmpRequestSchema>;
