import { type CheckFeature, featuresNeededBy } from '../check/check-features.ts';
import type { FamilyChoice, RunnableCheckType } from '../enums.ts';

/** What the assignment depends on, of a live agent. */
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

/** What the assignment depends on, of a check. */
export interface AssignableCheck {
  readonly id: string;
  readonly checkType: RunnableCheckType;
  readonly ipFamily: FamilyChoice;
  /** Those that its agent must have. */
  readonly features: readonly CheckFeature[];
}

/**
 * A DNS check may ask a server of either family.
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
/** Why no agent of a location has a check. The last: it names more private locations than can take turns. */
export type UnassignedReason = IncapableReason | 'too_many_locations';

export type Capable =
  | { readonly agents: readonly AssignableAgent[]; readonly reason: null }
  | {
      readonly agents: readonly [];
      readonly reason: IncapableReason;
    };

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
