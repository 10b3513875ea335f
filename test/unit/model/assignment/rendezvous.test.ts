import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AssignableAgent,
  type AssignableCheck,
  assignableCheckOf,
} from '../../../../src/model/assignment/capable-agents.ts';
import { assign } from '../../../../src/model/assignment/rendezvous.ts';
import { CHECK_FEATURE_NAMES } from '../../../../src/model/check/check-features.ts';
import { FAMILY_CHOICES, RUNNABLE_CHECK_TYPES } from '../../../../src/model/enums.ts';
import { caseCount } from '../../../support/nightly.ts';
import { checkOf } from '../../../support/samples/checks.ts';

const ABLE = {
  types: RUNNABLE_CHECK_TYPES.slice(),
  ipv6: true,
  icmp: true,
  features: [...CHECK_FEATURE_NAMES],
};

function agent(id: string, fields: Partial<AssignableAgent> = {}): AssignableAgent {
  return { id, concurrency: 100, capabilities: ABLE, ...fields };
}

function urlChecks(count: number, salt = ''): AssignableCheck[] {
  return Array.from({ length: count }, (_, n) => ({
    id: `check-${salt}${n}`,
    checkType: 'URL',
    ipFamily: 'IPv4',
    features: [],
  }));
}

const CHECK: fc.Arbitrary<AssignableCheck> = fc.record({
  id: fc.string(),
  checkType: fc.constantFrom(...RUNNABLE_CHECK_TYPES),
  ipFamily: fc.constantFrom(...FAMILY_CHOICES),
  features: fc.subarray([...CHECK_FEATURE_NAMES], { maxLength: 1 }),
});
const CAPABILITIES = fc.record({
  types: fc.subarray(ABLE.types),
  ipv6: fc.boolean(),
  icmp: fc.boolean(),
  features: fc.subarray([...CHECK_FEATURE_NAMES]),
});
const AGENT: fc.Arbitrary<AssignableAgent> = fc.record({
  id: fc.uuid(),
  concurrency: fc.integer({ min: 1, max: 1000 }),
  capabilities: CAPABILITIES,
});
const AGENTS = fc.uniqueArray(AGENT, { selector: ({ id }) => id, maxLength: 8 });
const CHECKS = fc.uniqueArray(CHECK, { selector: ({ id }) => id, maxLength: 50 });

/** Agents that can all run everything, with concurrencies of one order of magnitude. */
const PEERS = fc
  .uniqueArray(fc.uuid(), { minLength: 2, maxLength: 8 })
  .chain((ids) =>
    fc.tuple(
      ...ids.map((id) =>
        fc.integer({ min: 50, max: 200 }).map((concurrency) => agent(id, { concurrency })),
      ),
    ),
  );

const MANY = 20_000;

function idealShare(agents: readonly AssignableAgent[], one: AssignableAgent): number {
  return one.concurrency / agents.reduce((sum, { concurrency }) => sum + concurrency, 0);
}

function movedBetween(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>) {
  return [...after].filter(([id, owner]) => before.get(id) !== owner);
}

function first(agents: readonly AssignableAgent[]): AssignableAgent {
  const [one] = agents;
  if (one === undefined) throw new Error('there is no agent');
  return one;
}

describe('the assignment of checks', () => {
  it('does not depend on the order of checks and agents', () => {
    const shuffled = fc
      .tuple(CHECKS, AGENTS)
      .chain(([checks, agents]) =>
        fc.tuple(
          fc.constant(checks),
          fc.constant(agents),
          fc.shuffledSubarray(checks, { minLength: checks.length }),
          fc.shuffledSubarray(agents, { minLength: agents.length }),
        ),
      );
    fc.assert(
      fc.property(shuffled, ([checks, agents, otherChecks, otherAgents]) => {
        expect(assign(otherChecks, otherAgents)).toEqual(assign(checks, agents));
      }),
    );
  });

  it('is the same in every release', () => {
    const agents = [agent('a'), agent('b'), agent('c', { concurrency: 300 })];
    const owners = [...assign(urlChecks(12), agents).owners.values()].join('');
    // A constant: another result would move checks back and forth while two releases run together.
    expect(owners).toBe('bccccacbcacc');
  });

  it('assigns each check to one capable agent, or gives the reason why there is none', () => {
    fc.assert(
      fc.property(CHECKS, AGENTS, (checks, agents) => {
        const { owners, unassigned } = assign(checks, agents);
        expect(owners.size + unassigned.size).toBe(checks.length);
        for (const { id, checkType, ipFamily, features } of checks) {
          const typed = agents.filter(({ capabilities }) => capabilities.types.includes(checkType));
          const current = typed.filter(({ capabilities }) =>
            features.every((feature) => capabilities.features?.includes(feature)),
          );
          const able = current.filter(
            ({ capabilities }) => checkType !== 'ICMP' || capabilities.icmp,
          );
          const someIpv6 = able.some(({ capabilities }) => capabilities.ipv6);
          const reason =
            agents.length === 0
              ? 'no_live_agent'
              : typed.length === 0
                ? 'type_not_supported'
                : current.length === 0
                  ? 'feature_not_supported'
                  : able.length === 0
                    ? 'icmp_not_permitted'
                    : ipFamily === 'BOTH' && !someIpv6
                      ? 'ipv6_not_available'
                      : undefined;
          expect(unassigned.get(id)).toBe(reason);
          if (reason !== undefined) continue;
          const owner = able.find((one) => one.id === owners.get(id));
          expect(owner).toBeDefined();
          // An agent without IPv6 would use IPv4, so it gets the check only if no agent has IPv6.
          if (ipFamily !== 'IPv4' && someIpv6) expect(owner?.capabilities.ipv6).toBe(true);
        }
      }),
    );
  });

  it('gives a check with a newer feature to no agent of a release without it', () => {
    const secure = { ...checkOf('TCP', { id: 'mail', request: { tls: 'ON' } }) };
    const check = assignableCheckOf(secure);
    const { features: _, ...before } = ABLE;
    const old = agent('old', { capabilities: before });
    expect(assign([check], [old]).unassigned.get('mail')).toBe('feature_not_supported');
    expect(assign([check], [old, agent('new')]).owners.get('mail')).toBe('new');
    const plain = { ...check, features: [] };
    expect(assign([plain], [old]).owners.get('mail')).toBe('old');
  });

  it('moves only its share to an agent that joins, and nothing between the others', () => {
    fc.assert(
      fc.property(PEERS, fc.string(), (agents, salt) => {
        const joining = first(agents);
        const checks = urlChecks(MANY, salt);
        const before = assign(checks, agents.slice(1)).owners;
        const moved = movedBetween(before, assign(checks, agents).owners);
        expect(new Set(moved.map(([, owner]) => owner))).toEqual(new Set([joining.id]));
        expect(moved.length).toBeLessThanOrEqual(1.2 * MANY * idealShare(agents, joining));
      }),
      { numRuns: caseCount(15) },
    );
  });

  it('moves only the checks of an agent that leaves, spread over the others by weight', () => {
    fc.assert(
      fc.property(PEERS, fc.string(), (agents, salt) => {
        const leaving = first(agents);
        const others = agents.slice(1);
        const checks = urlChecks(MANY, salt);
        const before = assign(checks, agents).owners;
        const moved = movedBetween(before, assign(checks, others).owners);
        expect(moved.every(([id]) => before.get(id) === leaving.id)).toBe(true);
        expect(moved.length).toBeLessThanOrEqual(1.2 * MANY * idealShare(agents, leaving));
        for (const other of others) {
          const taken = moved.filter(([, owner]) => owner === other.id).length;
          const ideal = moved.length * idealShare(others, other);
          expect(Math.abs(taken - ideal)).toBeLessThanOrEqual(6 * Math.sqrt(ideal));
        }
      }),
      { numRuns: caseCount(15) },
    );
  });

  it('moves only the necessary share when a concurrency changes', () => {
    const agents = [agent('a'), agent('b'), agent('c')];
    const checks = urlChecks(MANY);
    const before = assign(checks, agents).owners;
    const raised = [agent('a', { concurrency: 200 }), agent('b'), agent('c')];
    const moved = movedBetween(before, assign(checks, raised).owners);
    expect(moved.every(([, owner]) => owner === 'a')).toBe(true);
    expect(moved.length).toBeLessThanOrEqual(1.2 * MANY * (2 / 4 - 1 / 3));
  });

  it('gives each agent its share by concurrency', () => {
    fc.assert(
      fc.property(PEERS, fc.string(), (agents, salt) => {
        const owners = [...assign(urlChecks(MANY, salt), agents).owners.values()];
        for (const one of agents) {
          const own = owners.filter((owner) => owner === one.id).length;
          const ideal = MANY * idealShare(agents, one);
          expect(Math.abs(own - ideal)).toBeLessThanOrEqual(6 * Math.sqrt(ideal));
        }
      }),
      { numRuns: caseCount(15) },
    );
  });

  it('spreads checks evenly even if the ids of agents and checks are similar', () => {
    const agents = Array.from({ length: 10 }, (_, n) => agent(`agent-${n}`));
    const owners = [...assign(urlChecks(MANY), agents).owners.values()];
    for (const { id } of agents) {
      const own = owners.filter((owner) => owner === id).length;
      expect(own).toBeGreaterThan(0.9 * (MANY / 10));
      expect(own).toBeLessThan(1.1 * (MANY / 10));
    }
  });

  it('takes a check as the model defines it', () => {
    expect(assignableCheckOf(checkOf('DNS', { id: 'names' }))).toEqual({
      id: 'names',
      checkType: 'DNS',
      ipFamily: 'IPv4',
      features: [],
    });
    const ping = checkOf('ICMP', { id: 'ping', request: { ipFamily: 'IPv6' } });
    expect(assignableCheckOf(ping)).toMatchObject({ checkType: 'ICMP', ipFamily: 'IPv6' });
  });
});
