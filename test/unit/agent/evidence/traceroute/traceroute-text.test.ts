import { describe, expect, it } from 'vitest';
import { tracerouteText } from '../../../../../src/agent/evidence/traceroute/traceroute-text.ts';
import type { TracerouteHop } from '../../../../../src/model/result/traceroute.ts';

describe('the text of a traceroute', () => {
  it('has one line a hop, and how it ended', () => {
    const text = tracerouteText({
      hostname: 'db.example',
      resolvedIp: '10.0.9.9',
      hops: [
        hop(1, '10.0.0.1', 'gateway.example', 3),
        hop(2, null, null, 0),
        hop(10, '10.0.1.1', null, 2),
      ],
      destinationReached: false,
      truncationReason: 'no answer after hop 10',
    });
    expect(text.split('\n')).toEqual([
      'traceroute to db.example (10.0.9.9)',
      'hop from                         loss sent   last ms       avg      best     worst    stddev',
      '  1 gateway.example (10.0.0.1)     0%    3     1.000     2.500     1.000  1234.568     0.004',
      '  2 *                            100%    3         -         -         -         -         -',
      ' 10 10.0.1.1                      33%    3     1.000     2.500     1.000  1234.568     0.004',
      'ends before the destination: no answer after hop 10',
      '',
    ]);
  });

  it('keeps its columns if one name is long, and names the target once', () => {
    const text = tracerouteText({
      hostname: '10.0.9.9',
      resolvedIp: '10.0.9.9',
      hops: [hop(1, '10.0.0.1', 'x'.repeat(200), 3), hop(2, '10.0.9.9', null, 3)],
      destinationReached: true,
      truncationReason: null,
    });
    const [title, headings, long, short, end] = text.split('\n');
    expect(title).toBe('traceroute to 10.0.9.9');
    expect(short).toHaveLength(headings?.length ?? 0);
    expect(short?.length).toBeLessThan(120);
    expect(long).toContain(`${'x'.repeat(200)} (10.0.0.1)`);
    expect(end).toBe('the destination answers');
  });
});

function hop(
  number: number,
  address: string | null,
  host: string | null,
  received: number,
): TracerouteHop {
  const lossPercent = Math.round(((3 - received) / 3) * 10_000) / 100;
  const times =
    received === 0
      ? { lastMs: null, avgMs: null, bestMs: null, worstMs: null, stdDevMs: null }
      : { lastMs: 1, avgMs: 2.5, bestMs: 1, worstMs: 1234.568, stdDevMs: 0.004 };
  return { hop: number, address, host, sent: 3, received, lossPercent, ...times };
}
