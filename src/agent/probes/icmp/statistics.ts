import type { IcmpResponse } from '../../../model/result/details/icmp-detail.ts';
import { roundToMicroseconds } from '../probe.ts';

/**
 * Summarises round-trip times, all in milliseconds; stdDev is the population's
 * (src/model/README.md, "ICMP: `request`").
 */
export function latencyOf(rttsMs: readonly number[]): IcmpResponse['latency'] {
  if (rttsMs.length === 0) return { avg: null, min: null, max: null, stdDev: null };
  const avg = rttsMs.reduce((sum, rtt) => sum + rtt, 0) / rttsMs.length;
  const variance = rttsMs.reduce((sum, rtt) => sum + (rtt - avg) ** 2, 0) / rttsMs.length;
  return {
    avg: roundToMicroseconds(avg),
    min: roundToMicroseconds(Math.min(...rttsMs)),
    max: roundToMicroseconds(Math.max(...rttsMs)),
    stdDev: roundToMicroseconds(Math.sqrt(variance)),
  };
}

/** Percentage of attempted echoes without an answer, to two decimals; 100 if there were none. */
export function packetLossPercent(attempted: number, received: number): number {
  if (attempted === 0) return 100;
  return Math.round(((attempted - received) / attempted) * 10_000) / 100;
}
