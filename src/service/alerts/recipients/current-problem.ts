import type { UnhealthyCondition } from '../../../model/alerting/alert.ts';
import { MINUTE_MS } from '../../../model/time-units.ts';
import { countText } from '../../../runtime/text/count-text.ts';
import { rulesOf } from '../judge.ts';
import type { AlertSubject } from '../states.sql.ts';

const NEXT_RUN = 'The next run that fails gives an alert.';

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
  if (isMuted) return 'The check or its group is muted: its alert waits.';
  if (isSilenced) return 'A maintenance window silences or pauses the check: its alert waits.';
  if (failing.length > 0) return `It depends on ${failing.join(', ')}: its alert waits.`;
  // Between degraded and failing there is no threshold.
  if (record?.state.startedSilenced === true && record.state.notified !== null) return NEXT_RUN;
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
  // It was reached in silence.
  if (done >= escalation.runs) return NEXT_RUN;
  return `It gives an alert after ${countText(escalation.runs, 'run')} in a row; so far ${done}.`;
}
