import { describe, expect, it } from 'vitest';
import type { EchoEnd } from '../../../../../src/agent/probes/icmp/echo-exchange.ts';
import {
  countPackets,
  icmpSummary,
  kernelUncertainMs,
} from '../../../../../src/agent/probes/icmp/packet-counts.ts';

const answered = (rttMs: number): EchoEnd => ({
  kind: 'answered',
  rttMs,
  ttl: 57,
  uncertainMs: null,
});
const LOST: EchoEnd = { kind: 'lost' };
const REFUSED: EchoEnd = { kind: 'refused', reason: 'no route' };
const UNREACHABLE: EchoEnd = { kind: 'unreachable', reason: 'host unreachable, says 10.0.0.1' };
const FAULT: EchoEnd = { kind: 'fault', reason: 'no buffers left' };

describe('the packet counts of a run', () => {
  it('count what was sent and answered, sequences from 1', () => {
    expect(countPackets([answered(10), LOST, answered(20.12345), UNREACHABLE])).toEqual({
      packetsSent: 4,
      packetsReceived: 2,
      packetLoss: 50,
      latency: { avg: 15.062, min: 10, max: 20.123, stdDev: 5.062 },
      pingResults: [
        { sequence: 1, success: true, rtt: 10, ttl: 57 },
        { sequence: 2, success: false, rtt: null, ttl: null },
        { sequence: 3, success: true, rtt: 20.123, ttl: 57 },
        { sequence: 4, success: false, rtt: null, ttl: null },
      ],
    });
  });

  it('count a refused echo as lost but not as sent', () => {
    expect(countPackets([answered(1), REFUSED])).toMatchObject({ packetsSent: 1, packetLoss: 50 });
  });

  it('do not count a fault of the agent as packet loss', () => {
    const counts = countPackets([answered(1), FAULT]);
    expect(counts).toMatchObject({ packetsSent: 1, packetsReceived: 1, packetLoss: 0 });
    expect(counts.pingResults).toHaveLength(2);
  });

  it('are summarised in one line', () => {
    expect(icmpSummary(countPackets([answered(10), LOST]))).toBe(
      '2 sent, 1 received, 50 % lost; round trip min 10, avg 10, max 10, stdDev 0 ms',
    );
    expect(icmpSummary(countPackets([LOST]))).toBe('1 sent, 0 received, 100 % lost');
  });
});

describe('the round trips of a run', () => {
  const stamped = (uncertainMs: number | null): EchoEnd => ({
    kind: 'answered',
    rttMs: 200,
    ttl: 57,
    uncertainMs,
  });

  it.each([
    ['are as uncertain as the one whose send took longest', [stamped(0.1), stamped(95), LOST], 95],
    ['are not timed by the kernel where one reply was not', [stamped(0.1), stamped(null)], null],
    ['are none where no reply came', [LOST, UNREACHABLE], null],
  ] as const)('%s', (_what, ends, uncertainMs) => {
    expect(kernelUncertainMs(ends)).toBe(uncertainMs);
  });
});
