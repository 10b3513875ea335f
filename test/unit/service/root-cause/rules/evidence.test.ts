import { describe, expect, it } from 'vitest';
import type { Traceroute, TracerouteHop } from '../../../../../src/model/result/traceroute.ts';
import type { FailureContext } from '../../../../../src/service/root-cause/analysis-input.ts';
import { analyseByRules } from '../../../../../src/service/root-cause/rules/rules-provider.ts';
import {
  answered,
  caseOf,
  SLOT,
  withoutAnswer,
} from '../../../../support/samples/root-cause-cases.ts';

const MINUTE_MS = 60_000;
const PASSED = {
  slotMs: SLOT - 10 * MINUTE_MS,
  responseTimeMs: 123.4,
  phases: { firstByte: 20 },
  address: '192.0.2.1',
  status: '200',
  fingerprint: null,
  issuer: null,
};
const other = (location: string, passed: boolean, slotMs = SLOT) => ({
  location,
  slotMs,
  passed,
  code: passed ? null : 'CONNECT_TIMEOUT',
  status: null,
});
const neighbour = (id: string, failing: boolean) => ({
  id,
  name: `Check ${id}`,
  checkType: 'TCP',
  failing,
  slotMs: SLOT,
});

function analyse(surroundings: Partial<FailureContext>, result = withoutAnswer('CONNECT_TIMEOUT')) {
  const analysis = analyseByRules(
    caseOf(result, { surroundings: { lookedBackMs: 7 * 86_400_000, ...surroundings } }),
  );
  return { ...analysis, text: analysis.evidence.map(({ description }) => description).join('\n') };
}

describe('what happened around a failure', () => {
  it('since when it fails, and the last run that passed', () => {
    const { text } = analyse({
      passed: [PASSED],
      failing: { runs: 4, firstSlotMs: SLOT - 9 * MINUTE_MS },
    });
    expect(text).toContain(
      'The last run in berlin that passed was at 2026-01-01 11:50:00 UTC, 10 minutes before this one, and took 123 ms.',
    );
    expect(text).toContain(
      'It has failed there since 2026-01-01 11:51:00 UTC: 4 runs including this one.',
    );
  });

  it('that it is the first', () => {
    const { text } = analyse({ passed: [PASSED], failing: { runs: 1, firstSlotMs: SLOT } });
    expect(text).toContain('This is the first failed run there since then.');
  });

  it('that none passed in the time that was looked at', () => {
    const { text } = analyse({ failing: { runs: 300, firstSlotMs: 0 } });
    expect(text).toContain('No run in berlin passed in the 7 days before.');
    expect(text).toContain('300 runs failed there since.');
  });

  it('that the address is another one', () => {
    const { text } = analyse({ passed: [PASSED] }, answered({ status: 500, ip: '198.51.100.1' }));
    expect(text).toContain('The run went to 198.51.100.1, the last one that passed to 192.0.2.1');
  });

  it('that it passes elsewhere, so that the way to it is likely the cause', () => {
    const { text, rootCause, userImpact } = analyse({
      others: [other('oslo', true), other('rome', true, SLOT - MINUTE_MS)],
    });
    expect(text).toContain('In oslo the check passed at the same slot.');
    expect(text).toContain('In rome the check passed at 2026-01-01 11:59:00 UTC.');
    expect(rootCause).toContain('the cause is likely between berlin and the target');
    expect(userImpact).toContain('Likely only users near berlin are affected');
  });

  it('that it fails everywhere, so that the target is likely the cause', () => {
    const { text, rootCause, userImpact } = analyse({ others: [other('oslo', false)] });
    expect(text).toContain('In oslo the check failed at the same slot with CONNECT_TIMEOUT.');
    expect(rootCause).toContain('It also fails in oslo, so the cause is likely at the target');
    expect(userImpact).toContain('in every location');
  });

  it('that it passes in some locations alone proves neither', () => {
    const { rootCause, userImpact } = analyse({
      others: [other('oslo', false), other('rome', true)],
    });
    expect(rootCause).not.toMatch(/between berlin|at the target/);
    expect(userImpact).toContain('Not all locations are affected: the check passes in rome.');
  });

  it('that other checks of the host fail too, or do not', () => {
    const all = analyse({ neighbours: [neighbour('a', true), neighbour('b', true)] });
    expect(all.rootCause).toContain('All 2 other checks of the same host fail too');
    const some = analyse({ neighbours: [neighbour('a', true), neighbour('b', false)] });
    expect(some.rootCause).not.toContain('same host');
    expect(some.text).toContain(
      'Other checks of the same host: "Check a" (TCP) fail as well; "Check b" (TCP) pass.',
    );
  });
});

describe('the trace to the target', () => {
  const hop = (number: number, fields: Partial<TracerouteHop> = {}): TracerouteHop => ({
    hop: number,
    address: `192.0.2.${number}`,
    host: null,
    sent: 10,
    received: 10,
    lossPercent: 0,
    lastMs: number,
    avgMs: number,
    bestMs: number,
    worstMs: number,
    stdDevMs: 0,
    ...fields,
  });
  const trace = (hops: readonly TracerouteHop[], fields: Partial<Traceroute> = {}) =>
    withoutAnswer('CONNECT_TIMEOUT', {
      traceroute: {
        hostname: 'shop.test',
        resolvedIp: '192.0.2.3',
        hops,
        destinationReached: true,
        truncationReason: null,
        ...fields,
      },
    });

  it('ends where the packets go no further', () => {
    const result = trace([hop(1), hop(2, { host: 'r2.test' }), hop(3, { address: null })], {
      destinationReached: false,
      truncationReason: 'max hops',
    });
    const { text, evidence } = analyse({}, result);
    expect(text).toContain(
      'ends (max hops) after hop 2 (r2.test, 192.0.2.2), the last hop that answered',
    );
    expect(evidence.flatMap(({ artifacts }) => artifacts)).toContainEqual({
      name: '/v1/check-results/shop/result-1#traceroute',
      type: 'traceroute',
    });
  });

  it('that arrives distinguishes a closed port from a host that is down', () => {
    const { text, rootCause } = analyse({}, trace([hop(1), hop(2), hop(3)]));
    expect(text).toContain('reaches shop.test (192.0.2.3) in 3 hops');
    expect(rootCause).toContain('a firewall likely drops the packets to this port');
  });

  it('loses packets only where the loss goes on to the end', () => {
    const passing = analyse({}, trace([hop(1), hop(2, { lossPercent: 80 }), hop(3)]));
    expect(passing.text).not.toContain('Packets are lost');
    const lasting = analyse(
      {},
      trace([hop(1), hop(2, { lossPercent: 40 }), hop(3, { lossPercent: 35 })]),
    );
    expect(lasting.text).toContain('Packets are lost at hop 2 (192.0.2.2) (40 %)');
  });

  it('shows where the time goes up and stays up', () => {
    const { text } = analyse({}, trace([hop(1), hop(2, { avgMs: 90 }), hop(3, { avgMs: 95 })]));
    expect(text).toContain('response time increases by 89 ms at hop 2');
    const once = analyse({}, trace([hop(1), hop(2, { avgMs: 90 }), hop(3)]));
    expect(once.text).not.toContain('response time increases');
  });

  it('that no router answered', () => {
    const { text } = analyse({}, trace([hop(1, { address: null })], { destinationReached: false }));
    expect(text).toContain('no router answered at all');
  });
});
