import { MISSED_REASONS } from '../../model/result/missed-slots.ts';

/** Why a trial expired, as text for the user who requested it. */
export const EXPIRED = {
  notStarted: {
    reason: 'not_started',
    message:
      'No agent of the location took the check in time: see whether one is connected and not overloaded, and try again.',
  },
  agentLost: {
    reason: 'agent_lost',
    message: 'The agent that ran the check stopped or was lost: try again.',
  },
  noResult: {
    reason: 'no_result',
    message: 'The agent that ran the check sent no result in time: read its log, and try again.',
  },
} as const;

export const INVALID_RESULT = {
  reason: 'invalid_result',
  message: 'The service cannot read the result of the agent: upgrade the older one of the two.',
} as const;

/** @param problem why the agent cannot read the check, without secrets; null for any other reason */
export function missedMessage(reason: string, problem: string | null): string {
  if (problem !== null) return `The agent cannot run this check: ${problem}`;
  const known: Readonly<Record<string, string>> = MISSED_REASONS;
  const text = Object.hasOwn(known, reason) ? known[reason] : 'The agent did not run the check.';
  return `${text} Try again.`;
}
