import { z } from 'zod';
import type { HeartbeatOfStatus } from './sql.ts';

/** What a list of statuses shows of a heartbeat. */
export const heartbeatOfStatusSchema = z.strictObject({
  periodSeconds: z.number().describe('The time between expected pings.'),
  graceSeconds: z.number().describe('How late a ping may be.'),
  lastPingAt: z.iso.datetime().nullable().describe('null before the first ping.'),
  failsAt: z.iso
    .datetime()
    .nullable()
    .describe(
      'When it fails if no ping comes. null while nothing is due: before the first ping, while it fails, and while it is not activated.',
    ),
});

export function presentHeartbeatOfStatus({
  periodSeconds,
  graceSeconds,
  lastPingMs,
  dueMs,
}: HeartbeatOfStatus): z.infer<typeof heartbeatOfStatusSchema> {
  return { periodSeconds, graceSeconds, lastPingAt: isoOf(lastPingMs), failsAt: isoOf(dueMs) };
}

function isoOf(epochMs: number | null): string | null {
  return epochMs === null ? null : new Date(epochMs).toISOString();
}
