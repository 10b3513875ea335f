import type { IcmpResponse } from '../../../model/result/details/icmp-detail.ts';
import { roundToMicroseconds } from '../probe.ts';
import type { EchoEnd } from './echo-exchange.ts';
import { latencyOf, packetLossPercent } from './statistics.ts';

export type PacketCounts = Pick<
  IcmpResponse,
  'packetsSent' | 'packetsReceived' | 'packetLoss' | 'latency' | 'pingResults'
>;

/**
 * Counts the packets of a run. Sequence numbers start at 1, as in ping. An echo that the network
 * refused was not sent and counts as lost; one that failed through a fault of ours does not count.
 */
export function countPackets(ends: readonly EchoEnd[]): PacketCounts {
  const answered = ends.filter((end) => end.kind === 'answered');
  const faults = count(ends, 'fault');
  return {
    packetsSent: ends.length - count(ends, 'refused') - faults,
    packetsReceived: answered.length,
    packetLoss: packetLossPercent(ends.length - faults, answered.length),
    latency: latencyOf(answered.map(({ rttMs }) => rttMs)),
    pingResults: ends.map((end, index) => {
      const sequence = index + 1;
      return end.kind === 'answered'
        ? { sequence, success: true, rtt: roundToMicroseconds(end.rttMs), ttl: end.ttl }
        : { sequence, success: false, rtt: null, ttl: null };
    }),
  };
}

/**
 * Upper bound of the error of the round trips if the kernel stamped all replies; null if it did
 * not, or there are none.
 */
export function kernelUncertainMs(ends: readonly EchoEnd[]): number | null {
  const answered = ends.filter((end) => end.kind === 'answered');
  let mostMs: number | null = null;
  for (const { uncertainMs } of answered) {
    if (uncertainMs === null) return null;
    mostMs = Math.max(mostMs ?? 0, uncertainMs);
  }
  return mostMs;
}

export function icmpSummary({
  packetsSent,
  packetsReceived,
  packetLoss,
  latency,
}: PacketCounts): string {
  const { min, avg, max, stdDev } = latency;
  const times =
    avg === null ? '' : `; round trip min ${min}, avg ${avg}, max ${max}, stdDev ${stdDev} ms`;
  return `${packetsSent} sent, ${packetsReceived} received, ${packetLoss} % lost${times}`;
}

function count(ends: readonly EchoEnd[], kind: EchoEnd['kind']): number {
  return ends.filter((end) => end.kind === kind).length;
}
