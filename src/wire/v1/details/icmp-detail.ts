import { z } from 'zod';
import { duration, durationOrNull } from '../durations.ts';
import { boundedList } from '../fields.ts';
import {
  commonDetail,
  end,
  families,
  familyChoice,
  host,
  hostname,
  ipFamily,
  PHASE_TIMES,
  PHASES,
  RECEIVED,
  SENT,
  TIMINGS,
} from './common-detail.ts';

const pingCount = z.int().min(1).max(50).describe('How many echo requests the check sends.');

export const icmpDetail = z
  .object({
    request: z.object({ hostname, pingCount, ipFamily: familyChoice }).describe(SENT),
    response: z
      .object({
        hostname,
        resolvedIp: host.describe('The address that was pinged.'),
        ipFamily,
        pingCount,
        packetsSent: z.int().min(0).max(50).describe('Echo requests that were sent.'),
        packetsReceived: z.int().min(0).max(50).describe('Replies that came.'),
        packetLoss: z.number().min(0).max(100).describe('Requests without a reply, in percent.'),
        dnsResolutionTime: PHASES.dns,
        latency: z
          .object({
            avg: durationOrNull.describe('The average in milliseconds; null without replies.'),
            min: durationOrNull.describe('The shortest in milliseconds; null without replies.'),
            max: durationOrNull.describe('The longest in milliseconds; null without replies.'),
            stdDev: durationOrNull.describe(
              'The standard deviation, of the population, in milliseconds; null without replies.',
            ),
          })
          .describe('The times until the replies.'),
        pingResults: boundedList(
          z.object({
            sequence: z.int().min(0).max(65_535).describe('The sequence number of the request.'),
            success: z.boolean().describe('Whether a reply came in time.'),
            rtt: durationOrNull.describe('Milliseconds until the reply; null without one.'),
            ttl: z
              .int()
              .min(0)
              .max(255)
              .nullable()
              .describe('The hop limit of the reply; null without one, or if it is not known.'),
          }),
          50,
        ).describe('Each echo request, in order.'),
      })
      .nullable()
      .describe(RECEIVED),
    ...commonDetail,
    timings: z
      .object({
        lookup: duration.describe('Milliseconds from the start until the name was looked up.'),
        end,
      })
      .describe(TIMINGS),
    timingPhases: z.object({ dns: PHASES.dns, total: PHASES.total }).describe(PHASE_TIMES),
    families,
  })
  .meta({ title: 'IcmpCheckResult' });
