import type { UnhealthyCondition } from '../../../model/alerting/alert.ts';
import { MINUTE_MS } from '../../../model/time-units.ts';
import { countText } from '../../../runtime/text/count-text.ts';
import { rulesOf } from '../judge.ts';
import type { AlertSubject } from '../states.sql.ts';

/** What is wrong with a check now, and whether it gave an alert. */
export interface CurrentProblem {
  readonly condition: UnhealthyCondition;
  /** Epoch milliseconds: the slot in which it began. */
  readonly sinceMs: number;
  readonly isAlerted: boolean;
  /** Why it gave an alert, or none, in one sentence. */
  readonly reason: string;
}

/**
 * As the alert state machine decides it: src/service/README.md, "Alerts".
 *
 * @param failing the names of the checks that it depends on and that fail
 * @returns null for a check that passes
 */
export function currentProblemOf(
  subject: AlertSubject,
  { isSilenced, failing }: { readonly isSilenced: boolean; readonly failing: readonly string[] },
): CurrentProblem | null {
  const state = subject.record?.state;
  if (state === undefined || state.condition === 'passing') return null;
  const { condition, sinceMs, notified } = state;
  const isAlerted = notified === condition;
  const reason = reasonOf(subject, { isAlerted, isSilenced, failing });
  return { condition, sinceMs, isAlerted, reason };
}

function reasonOf(
  subject: AlertSubject,
  {
    isAlerted,
    isSilenced,
    failing,
  }: {
    readonly isAlerted: boolean;
    readonly isSilenced: boolean;
    readonly failing: readonly string[];
  },
): string {
  const { isActive, isMuted, record } = subject;
  if (record?.flapping?.started != null) {
    return 'It flaps: it gives no further alert until it is calm.';
  }
  if (isAlerted) return 'It gave an alert.';
  if (!isActive) return 'The check or its group is not activated: it gives no alert.';
  if (record?.state.startedSilenced === true) {
    return 'It began while the check was muted, or in a maintenance window: it gives no alert unless it gets worse.';
  }
  if (isMuted) return 'The check or its group is muted: it gives no alert.';
  if (isSilenced) return 'A maintenance window silences or pauses the check: its alert waits.';
  if (failing.length > 0) return `It depends on ${failing.join(', ')}: its alert waits.`;
  if (record?.state.heldAtMs !== undefined) {
    return 'Its alert waits for the checks that it depends on.';
  }
  return thresholdText(subject);
}

function thresholdText(subject: AlertSubject): string {
  const { escalation } = rulesOf(subject);
  if (escalation.by === 'time') {
    return `It gives an alert after ${countText(Math.round(escalation.forMs / MINUTE_MS), 'minute')}.`;
  }
  const done = subject.record?.state.runs ?? 0;
  return `It gives an alert after ${countText(escalation.runs, 'run')} in a row; so far ${done}.`;
}
