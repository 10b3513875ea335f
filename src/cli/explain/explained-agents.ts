import { z } from 'zod';
import {
  type AssignableCheck,
  assignableCheckOf,
  capableAgents,
  type IncapableReason,
} from '../../model/assignment/capable-agents.ts';
import { assign } from '../../model/assignment/rendezvous.ts';
import { FAMILY_CHOICES, RUNNABLE_CHECK_TYPES } from '../../model/enums.ts';
import { isActivated, type Subject } from './subject.ts';

/** An agent as the API shows it. */
export const shownAgentSchema = z.object({
  id: z.string(),
  live: z.boolean(),
  checks: z.int(),
  countedConcurrency: z.number(),
  capabilities: z.object({
    types: z.array(z.string()),
    ipv6: z.boolean(),
    icmp: z.boolean(),
    features: z.array(z.string()).default([]),
  }),
  refused: z.array(z.object({ checkId: z.string(), problem: z.string() })),
});
export type ShownAgent = z.output<typeof shownAgentSchema>;

/** An agent that polls for a location of the check. */
export interface ExplainedAgent {
  readonly id: string;
  /** How many checks it runs. */
  readonly checks: number;
  /** Why it does not run this one; null if it does. */
  readonly problem: string | null;
}

/** The fields of a check that decide its assignment. A newer service may have unknown types. */
const assignableSchema = z.object({
  id: z.string(),
  checkType: z.enum(RUNNABLE_CHECK_TYPES),
  request: z.looseObject({ ipFamily: z.enum(FAMILY_CHOICES).exactOptional() }),
});

/**
 * Explains for each polling agent of a location whether it runs the check, by the rule with which the service
 * assigns checks (src/service/README.md, "Leases and assignment"). After a change, the service may need a moment.
 */
export function explainedAgents(
  subject: Subject,
  agents: readonly ShownAgent[],
): readonly ExplainedAgent[] {
  const live = agents.filter(({ live: polls }) => polls);
  const problemOf = problemsOf(subject, live);
  return live.map((agent) => {
    const refused = agent.refused.find(({ checkId }) => checkId === subject.check.id);
    const problem = problemOf(agent) ?? refused?.problem ?? null;
    return { id: agent.id, checks: agent.checks, problem };
  });
}

function problemsOf(
  subject: Subject,
  live: readonly ShownAgent[],
): (agent: ShownAgent) => string | null {
  if (!isActivated(subject)) return () => 'the check is not activated';
  const { check, group } = subject;
  const parsed = assignableSchema.safeParse(check);
  if (!parsed.success) return () => 'this release does not know the type of the check';
  // Keeps the other fields, which decide about features.
  const assignable = assignableCheckOf({ ...check, ...parsed.data }, group);
  const all = live.map((agent) => ({ ...agent, concurrency: agent.countedConcurrency }));
  const owner = assign([assignable], all).owners.get(assignable.id);
  const capable = new Set(capableAgents(assignable, all).agents.map(({ id }) => id));
  return (agent) => {
    if (agent.id === owner) return null;
    if (capable.has(agent.id))
      return `agent ${owner} runs it, as the ids of check and agents and JOB_CONCURRENCY determine`;
    const { reason } = capableAgents(assignable, [
      { ...agent, concurrency: agent.countedConcurrency },
    ]);
    return reason === null
      ? `it has no IPv6, and agent ${owner} has`
      : reasonText(reason, assignable, agent);
  };
}

function reasonText(
  reason: IncapableReason,
  { checkType, features }: AssignableCheck,
  { capabilities }: ShownAgent,
): string {
  switch (reason) {
    case 'type_not_supported':
      return `it cannot run ${checkType} checks; upgrade it`;
    case 'feature_not_supported': {
      const lacking = features.filter((feature) => !capabilities.features.includes(feature));
      return `it does not know all settings of the check (${lacking.join(', ')}); upgrade it`;
    }
    case 'ipv6_not_available':
      return 'it has no IPv6, which ipFamily BOTH needs in addition to IPv4';
    case 'icmp_not_permitted':
      return 'it may not open an ICMP socket (see "ICMP without privilege")';
    case 'no_live_agent':
      return 'it does not poll';
  }
}
