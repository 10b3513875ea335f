import { type Condition, type UnhealthyCondition, worseOf } from './alert.ts';

/** Who acknowledged an alert: a user, an API key, or whoever has the link in a message to a channel. */
export const ACKNOWLEDGER_KINDS = ['user', 'key', 'channel'] as const;

export interface Acknowledger {
  readonly kind: (typeof ACKNOWLEDGER_KINDS)[number];
  /** The id of the user, of the key or of the channel. */
  readonly id: string;
  /** The email of the user, or the name of the key or of the channel, when the alert was acknowledged. */
  readonly name: string;
}

export interface Acknowledgement {
  readonly by: Acknowledger;
  /** Epoch milliseconds. */
  readonly atMs: number;
}

/** How long a problem has waited for somebody who takes it. */
export interface AcknowledgementWait {
  /** The worst condition that was sent to subscribers since the check last passed. */
  readonly worst: UnhealthyCondition;
  /** When that condition was first sent, or its acknowledgement ended; epoch milliseconds. */
  readonly sinceMs: number;
  /** Whether the escalation step was taken. */
  readonly isEscalated: boolean;
}

/** What acknowledgement and escalation of a problem depend on. */
export interface Acknowledgeable {
  readonly condition: Condition;
  /** The condition that somebody acknowledged since the check last passed; null for none. */
  readonly acknowledged: UnhealthyCondition | null;
  /** null if subscribers were told of no problem, or by an earlier release. */
  readonly wait: AcknowledgementWait | null;
}

/** Fields of `AlertState`. */
interface Knowledge {
  readonly condition: Condition;
  readonly notified: UnhealthyCondition | null;
  readonly startedSilenced: boolean;
  readonly heldAtMs?: number;
}

/** A problem that gets worse than it was when somebody took it must be taken again. */
export function isAcknowledged({
  condition,
  acknowledged,
}: Pick<Acknowledgeable, 'condition' | 'acknowledged'>): boolean {
  return acknowledged !== null && worseOf(condition, acknowledged) === acknowledged;
}

/** The condition that subscribers know of: they get no notice of one that is held, or that began in silence. */
export function knownCondition({
  condition,
  notified,
  startedSilenced,
  heldAtMs,
}: Knowledge): Condition {
  const isUntold = heldAtMs !== undefined || startedSilenced;
  return isUntold ? (notified ?? condition) : condition;
}

/** Whether somebody has the problem, as far as subscribers know of it. */
export function isTaken(state: Knowledge & Pick<Acknowledgeable, 'acknowledged'>): boolean {
  return isAcknowledged({ ...state, condition: knownCondition(state) });
}

/** Whether it is theirs. */
export function isAcknowledgedBy(
  acknowledgement: Acknowledgement | null,
  { kind, id }: Acknowledger,
): boolean {
  return acknowledgement?.by.kind === kind && acknowledgement.by.id === id;
}

/** The wait after subscribers were told of a condition: it begins again only if that is the worst so far. */
export function waitAfterNotice(
  before: AcknowledgementWait | null,
  condition: UnhealthyCondition,
  atMs: number,
): AcknowledgementWait {
  if (before !== null && worseOf(before.worst, condition) === before.worst) return before;
  return { worst: condition, sinceMs: atMs, isEscalated: false };
}

/**
 * When the escalation step is due, epoch milliseconds; null for never: somebody took the problem, it was
 * escalated, or there is no step.
 *
 * @param afterMs minutes of the step in milliseconds; null without a step
 */
export function escalationDueAtMs(state: Acknowledgeable, afterMs: number | null): number | null {
  const { condition, wait } = state;
  if (afterMs === null || wait === null || wait.isEscalated || condition === 'passing') return null;
  return isAcknowledged(state) ? null : wait.sinceMs + afterMs;
}
