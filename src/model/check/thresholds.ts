import { z } from 'zod';

/** When a run is degraded, and when it fails: src/model/README.md, "Thresholds". */

/** The default thresholds for degraded: milliseconds, for ICMP percent of loss. */
const DEGRADED_DEFAULTS = {
  URL: 3000,
  API: 5000,
  TCP: 3000,
  DNS: 500,
  ICMP: 10,
} as const;

const DEGRADED_BY_TYPE: ReadonlyMap<string, number> = new Map(Object.entries(DEGRADED_DEFAULTS));

/** Milliseconds; null disables a threshold. */
export function thresholds(
  checkType: keyof typeof DEGRADED_DEFAULTS,
  maxMs: number,
  limitMs: number,
) {
  return {
    degradedResponseTime: z
      .number()
      .min(0)
      .max(limitMs)
      .nullable()
      .default(DEGRADED_DEFAULTS[checkType])
      .describe(
        'Milliseconds. A run is degraded if its response time is longer. null disables the threshold.',
      ),
    maxResponseTime: z
      .number()
      .min(0)
      .max(limitMs)
      .nullable()
      .default(maxMs)
      .describe(
        'Milliseconds. A run fails if its response time is longer. null disables the threshold.',
      ),
  };
}

const percent = z.number().min(0).max(100);

export const packetLossThresholds = {
  degradedPacketLossThreshold: percent
    .default(DEGRADED_DEFAULTS.ICMP)
    .describe('Percent. A run is degraded if its packet loss is this high or higher.'),
  maxPacketLossThreshold: percent
    .default(20)
    .describe('Percent. A run fails if its packet loss is this high or higher.'),
};

/**
 * A maximum below the default of its degraded threshold lowers that default to itself, so that
 * giving one number does not require the other.
 */
export function withFittingDefault(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body;
  const given = body as Readonly<Record<string, unknown>>;
  const isIcmp = given.checkType === 'ICMP';
  const degraded = isIcmp ? 'degradedPacketLossThreshold' : 'degradedResponseTime';
  const max = given[isIcmp ? 'maxPacketLossThreshold' : 'maxResponseTime'];
  const standard = DEGRADED_BY_TYPE.get(String(given.checkType));
  if (given[degraded] !== undefined || typeof max !== 'number' || standard === undefined) {
    return body;
  }
  return max >= 0 && max < standard ? { ...given, [degraded]: max } : body;
}

/** The criterion of ICMP checks: a loss as high as the maximum fails. Both are in percent. */
export function isPassingLoss(packetLoss: number, maxPacketLoss: number): boolean {
  return packetLoss < maxPacketLoss;
}
