import { type CheckFeature, featuresNeededBy } from '../check/check-features.ts';
import type { FamilyChoice, RunnableCheckType } from '../enums.ts';

/** The properties of a live agent that the assignment of checks depends on. */
export interface AssignableAgent {
  readonly id: string;
  /** Runs at once, 1 or more: the agent's weight. */
  readonly concurrency: number;
  /** As the agent reports them (`Capabilities` in src/wire/v1/poll.ts). */
  readonly capabilities: {
    readonly types: readonly string[];
    readonly ipv6: boolean;
    readonly icmp: boolean;
    /** Agents of earlier releases report none. */
    readonly features?: readonly string[];
  };
}

/** The properties of a check that its assignment depends on. */
export interface AssignableCheck {
  readonly id: string;
  readonly checkType: RunnableCheckType;
  readonly ipFamily: FamilyChoice;
  /** The features that its agent must have. */
  readonly features: readonly CheckFeature[];
}

/**
 * The properties of a check for its assignment. A DNS check has no `ipFamily`: every agent that
 * supports its type can run it, as with IPv4.
 *
 * @param group of the check; null if it has none
 */
export function assignableCheckOf(
  check: {
    readonly id: string;
    readonly checkType: RunnableCheckType;
    readonly request: { readonly ipFamily?: FamilyChoice; readonly [field: string]: unknown };
  },
  group: object | null = null,
): AssignableCheck {
  const ipFamily = check.request.ipFamily ?? 'IPv4';
  const features = featuresNeededBy(check, group);
  return { id: check.id, checkType: check.checkType, ipFamily, features };
}

/** Why none of the agents of a location can run a check. */
export type IncapableReason =
  | 'no_live_agent'
  | 'type_not_supported'
  | 'feature_not_supported'
  | 'ipv6_not_available'
  | 'icmp_not_permitted';
/**
 * Why no agent of a location has a check. `too_many_locations`: the check names more private
 * locations than can run its slots in rotation.
 */
export type UnassignedReason = IncapableReason | 'too_many_locations';

export type Capable =
  | { readonly agents: readonly AssignableAgent[]; readonly reason: null }
  | {
      readonly agents: readonly [];
      readonly reason: IncapableReason;
    };

/**
 * Which of the agents can run checks of this kind. An agent without a route to IPv6 runs checks for
 * IPv6 over IPv4 (src/model/README.md, "Address families"), so it gets these, and those that may
 * use any family, only if no other agent can. It never gets a check that must pass over both
 * families.
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
