import { describe, expect, it } from 'vitest';
import type { EchoEnd } from '../../../../../src/agent/probes/icmp/echo-exchange.ts';
import { echoFailure } from '../../../../../src/agent/probes/icmp/echo-failure.ts';

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

describe('the failure of a run', () => {
  it.each([
    ['none where one reply came', [LOST, answered(1), UNREACHABLE], null],
    ['no reply', [LOST, LOST], 'ICMP_NO_REPLY'],
    ['an answer that it cannot be reached', [LOST, UNREACHABLE], 'ICMP_UNREACHABLE'],
    ['nothing that could be sent', [REFUSED, REFUSED], 'ICMP_UNREACHABLE'],
    ['a fault of ours, whatever else came', [FAULT, answered(1)], 'INTERNAL_ERROR'],
    ['no time for any echo', [], 'ICMP_NO_REPLY'],
  ] as const)('is %s', (_what, ends, code) => {
    expect(echoFailure('db.test (10.0.0.2)', ends)?.code ?? null).toBe(code);
  });

  it('names the target and the reason', () => {
    expect(echoFailure('db.test (10.0.0.2)', [UNREACHABLE])?.message).toBe(
      'db.test (10.0.0.2) cannot be reached: host unreachable, says 10.0.0.1.',
    );
    expect(echoFailure('10.0.0.2', [LOST, LOST])?.message).toBe(
      '10.0.0.2 answered none of 2 echo requests.',
    );
  });
});
