import { describe, expect, it } from 'vitest';
import { buildTraceroute } from '../../../../../src/agent/evidence/traceroute/build-traceroute.ts';
import type {
  Meaning,
  Observed,
  ProbeEnd,
} from '../../../../../src/agent/evidence/traceroute/engine.ts';
import { unreachableByCode } from '../../../../../src/agent/evidence/traceroute/unreachable.ts';
import type { Traceroute } from '../../../../../src/model/result/traceroute.ts';

const TARGET = { hostname: 'db.example', address: '10.0.9.9' };
const SILENT: readonly ProbeEnd[] = [null, null, null];

describe('a traceroute', () => {
  it('has each hop’s loss and times to the microsecond', () => {
    const traceroute = assembled([[answer('10.0.0.1', 1.00049), null, answer('10.0.0.1', 3.0004)]]);
    expect(traceroute.hops).toEqual([
      {
        hop: 1,
        address: '10.0.0.1',
        host: null,
        sent: 3,
        received: 2,
        lossPercent: 33.33,
        lastMs: 3,
        avgMs: 2,
        bestMs: 1,
        worstMs: 3,
        stdDevMs: 1,
      },
    ]);
  });

  it('has the router of a hop that answers most often, or first', () => {
    const hops = [
      [answer('10.0.0.1', 1), answer('10.0.0.2', 1), answer('10.0.0.2', 1)],
      [answer('10.0.1.7', 1), null, answer('10.0.1.2', 1)],
    ];
    expect(assembled(hops).hops.map(({ address }) => address)).toEqual(['10.0.0.2', '10.0.1.7']);
  });

  it('ends at the first hop where the destination answers', () => {
    const traceroute = assembled([
      SILENT,
      [answer('10.0.1.1', 1), answer('10.0.1.1', 1), answer('10.0.9.9', 1, 'destination')],
      [answer('10.0.9.9', 1, 'destination')],
    ]);
    expect(traceroute).toMatchObject({ destinationReached: true, truncationReason: null });
    expect(traceroute.hops.map(({ address }) => address)).toEqual([null, '10.0.9.9']);
  });

  it('that reaches the destination on one path is not refused on another', () => {
    const refused = answer('10.0.0.2', 1, unreachableByCode(4, 1));
    const hops = [[refused, answer('10.0.0.1', 1)], [answer('10.0.9.9', 1, 'destination')]];
    expect(assembled(hops)).toMatchObject({ destinationReached: true, truncationReason: null });
  });

  it.for([
    [4, 0, 'network (!N)'],
    [4, 1, 'host (!H)'],
    [4, 3, 'port'],
    [4, 9, 'administratively prohibited (!<9>)'],
    [4, 10, 'administratively prohibited (!<10>)'],
    [4, 13, 'administratively prohibited (!X)'],
    [4, 77, 'code 77 (!<77>)'],
    [6, 0, 'network (!N)'],
    [6, 1, 'administratively prohibited (!X)'],
    [6, 3, 'host (!H)'],
    [6, 4, 'port'],
    [6, 5, 'administratively prohibited (!<5>)'],
  ] as const)('over IPv%i that ends with code %i says so: %s', ([family, code, words]) => {
    const refused = answer('10.0.1.1', 1, unreachableByCode(family, code));
    const traceroute = assembled([[answer('10.0.0.1', 1)], [null, refused], SILENT]);
    expect(traceroute.truncationReason).toBe(`unreachable: ${words} by 10.0.1.1`);
    expect(traceroute).toMatchObject({ destinationReached: false, hops: { length: 2 } });
  });

  const full = Array.from({ length: 30 }, () => [answer('10.0.0.1', 1)]);
  it.for<[string, Observed['hops'], Observed['ended'], string, number]>([
    ['silence', [[answer('10.0.0.1', 1)], SILENT, SILENT], 'complete', 'no answer after hop 1', 2],
    ['nothing but silence', [SILENT, SILENT], 'complete', 'no answer', 1],
    ['the time limit', [[answer('10.0.0.1', 1)], SILENT, SILENT], 'time limit', 'time limit', 2],
    ['the end of the agent', [[answer('10.0.0.1', 1)]], 'stopped', 'stopped', 1],
    ['the last hop that is asked', full, 'complete', 'hop limit', 30],
  ])('that ends with %s says so', ([, hops, ended, reason, count]) => {
    const traceroute = assembled(hops, ended);
    expect(traceroute.truncationReason).toBe(reason);
    expect(traceroute.destinationReached).toBe(false);
    expect(traceroute.hops).toHaveLength(count);
  });
});

function answer(address: string, rttMs: number, meaning: Meaning = 'on the way'): ProbeEnd {
  return { address, rttMs, meaning };
}

function assembled(hops: Observed['hops'], ended: Observed['ended'] = 'complete'): Traceroute {
  return buildTraceroute(TARGET, { hops, ended });
}
