import type { Check } from '../../../model/check/check.ts';
import { type CheckFeature, featuresNeededBy } from '../../../model/check/check-features.ts';
import type { FamilyChoice, RunnableCheckType } from '../../../model/enums.ts';
import type { Capabilities } from '../../../wire/v1/poll.ts';

/** What the assignment depends on, of a live agent. */
export interface AssignableAgent {
  readonly id: string;
  /** Runs at once, 1 or more: the agent's weight. */
  readonly concurrency: number;
  readonly capabilities: Pick<Capabilities, 'types' | 'ipv6' | 'icmp' | 'features'>;
}

/** What the assignment depends on, of a check. */
export interface AssignableCheck {
  readonly id: string;
  readonly checkType: RunnableCheckType;
  readonly ipFamily: FamilyChoice;
  /** Those that its agent must have. */
  readonly features: readonly CheckFeature[];
}

/** A DNS check may ask a server of either family. */
export function assignableCheckOf(check: Check): AssignableCheck {
  const ipFamily = 'ipFamily' in check.request ? check.request.ipFamily : 'IPv4';
  const features = featuresNeededBy(check);
  return { id: check.id, checkType: check.checkType, ipFamily, features };
}

/** Why nobody runs a check, in words for its owner. */
export const UNASSIGNED_REASONS = {
  no_live_agent: 'No agent of the location is connected.',
  type_not_supported: 'No connected agent of the location runs checks of this type; upgrade one.',
  feature_not_supported:
    'No connected agent of the location knows all settings of the check; upgrade one.',
  ipv6_not_available:
    'No connected agent of the location has IPv6, which the check needs beside IPv4 (ipFamily BOTH).',
  icmp_not_permitted:
    'No connected agent of the location may open an ICMP socket; see "ICMP without privilege".',
  too_many_locations: 'The check names more private locations than can take turns.',
} as const;
export type UnassignedReason = keyof typeof UNASSIGNED_REASONS;

export type Capable =
  | { readonly agents: readonly AssignableAgent[]; readonly reason: null }
  | { readonly agents: readonly []; readonly reason: UnassignedReason };

/**
 * Which of the agents can run checks of this kind. An agent without a route to IPv6 runs IPv6 checks
 * over IPv4 (src/model/README.md, "What passes and what fails"), so it gets them, and those that may use
 * any family, only if no other agent can. A check that must pass over both goes to none of those agents.
 */
export function capableAgents(
  { checkType, ipFamily, features }: Omit<AssignableCheck, 'id'>,
  agents: readonly AssignableAgent[],
): Capable {
  if (agents.length === 0) return { agents: [], reason: 'no_live_agent' };
  const typed = agents.filter(({ capabilities }) => capabilities.types.includes(checkType));
  if (typed.length === 0) return { agents: [], reason: 'type_not_supported' };
  const current = typed.filter(({ capabilities }) =>
    features.every((feature) => capabilities.features?.includes(feature)),
  );
  if (current.length === 0) return { agents: [], reason: 'feature_not_supported' };
  const able =
    checkType === 'ICMP' ? current.filter(({ capabilities }) => capabilities.icmp) : current;
  if (able.length === 0) return { agents: [], reason: 'icmp_not_permitted' };
  if (ipFamily === 'IPv4') return { agents: able, reason: null };
  const withIpv6 = able.filter(({ capabilities }) => capabilities.ipv6);
  if (withIpv6.length > 0) return { agents: withIpv6, reason: null };
  return ipFamily === 'BOTH'
    ? { agents: [], reason: 'ipv6_not_available' }
    : { agents: able, reason: null };
}
