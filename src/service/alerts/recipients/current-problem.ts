import type { UnhealthyCondition } from '../../../model/alerting/alert.ts';
import { MINUTE_MS } from '../../../model/time-units.ts';
import { countText } from '../../../runtime/text/count-text.ts';
import { rulesOf } from '../check-rules.ts';
import type { AlertSubject } from '../states.sql.ts';

/** The current problem of a check, and whether it caused an alert. */
export interface CurrentProblem {
  readonly condition: UnhealthyCondition;
  /** Epoch milliseconds: the slot in which it began. */
  readonly sinceMs: number;
  readonly isAlerted: boolean;
  /** Why it caused an alert, or none, in one sentence. */
  readonly reason: string;
}

interface Circumstances {
  /** Whether a maintenance window silences the check. */
  readonly isSilenced: boolean;
  /** The names of the checks that it depends on and that fail. */
  readonly failing: readonly string[];
  /** Now; epoch milliseconds. */
  readonly atMs: number;
}

/**
 * Follows the decisions of the alert state machine: src/service/README.md, "Alerts".
 *
 * @returns null for a check that passes
 */
export function currentProblemOf(
  subject: AlertSubject,
  circumstances: Circumstances,
): CurrentProblem | null {
  const state = subject.record?.state;
  if (state === undefined || state.condition === 'passing') return null;
  const { condition, sinceMs, notified } = state;
  const isAlerted = notified === condition;
  const reason = isAlerted ? alertedText(subject) : unalertedText(subject, circumstances);
  return { condition, sinceMs, isAlerted, reason };
}

function isFlapping({ record }: AlertSubject): boolean {
  return record?.flapping?.started != null;
}

const FLAPS = 'It flaps: it causes no further alerts until it is calm.';

function alertedText(subject: AlertSubject): string {
  return isFlapping(subject) ? FLAPS : 'It caused an alert.';
}

function unalertedText(
  subject: AlertSubject,
  { isSilenced, failing, atMs }: Circumstances,
): string {
  const { isActive, isMuted, record, checkType } = subject;
  if (isFlapping(subject)) return FLAPS;
  if (!isActive) return 'The check or its group is not activated: it causes no alert.';
  if (isMuted) return 'The check or its group is muted: its alert waits.';
  if (isSilenced) return 'A maintenance window silences or pauses the check: its alert waits.';
  if (failing.length > 0) return `It depends on ${failing.join(', ')}: its alert waits.`;
  if (record?.state.heldAtMs !== undefined) {
    return 'Its alert waits for the checks that it depends on.';
  }
  const { escalation } = rulesOf(subject);
  const {
    sinceMs = atMs,
    runs = 0,
    startedSilenced = false,
    notified = null,
  } = record?.state ?? {};
  // Between degraded and failing there is no threshold.
  const isBetween = startedSilenced && notified !== null;
  const isReached =
    escalation.by === 'time' ? atMs - sinceMs >= escalation.forMs : runs >= escalation.runs;
  if (isBetween || isReached) {
    return checkType === 'HEARTBEAT'
      ? 'It alerts within a minute.'
      : 'The next failing run causes an alert.';
  }
  if (escalation.by === 'time') {
    return `It alerts after ${countText(Math.round(escalation.forMs / MINUTE_MS), 'minute')}.`;
  }
  return `It alerts after ${countText(escalation.runs, 'run')} in a row; so far ${runs}.`;
}
