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

/** How long a problem has waited for an acknowledgement. */
export interface AcknowledgementWait {
  /** The worst condition that was sent to subscribers since the check last passed. */
  readonly worst: UnhealthyCondition;
  /** When that condition was first sent, or its acknowledgement ended; epoch milliseconds. */
  readonly sinceMs: number;
  /** Whether the escalation step was taken. */
  readonly isEscalated: boolean;
}

/** The fields of a state that acknowledgement and escalation depend on. */
export interface Acknowledgeable {
  readonly condition: Condition;
  /** The condition that somebody acknowledged since the check last passed; null for none. */
  readonly acknowledged: UnhealthyCondition | null;
  /** null if subscribers got no notice of a problem, or if an earlier release wrote the state. */
  readonly wait: AcknowledgementWait | null;
}

/** Fields of `AlertState`. */
interface Knowledge {
  readonly condition: Condition;
  readonly notified: UnhealthyCondition | null;
  readonly startedSilenced: boolean;
  readonly heldAtMs?: number;
}

/** A problem that got worse since its acknowledgement must be acknowledged again. */
export function isAcknowledged({
  condition,
  acknowledged,
}: Pick<Acknowledgeable, 'condition' | 'acknowledged'>): boolean {
  return acknowledged !== null && worseOf(condition, acknowledged) === acknowledged;
}

/** The condition as subscribers know it: they have no notice of one that is held or began in silence. */
export function knownCondition({
  condition,
  notified,
  startedSilenced,
  heldAtMs,
}: Knowledge): Condition {
  const isUnsent = heldAtMs !== undefined || startedSilenced;
  return isUnsent ? (notified ?? condition) : condition;
}

/** Whether the problem is acknowledged, in the condition that subscribers know. */
export function isTaken(state: Knowledge & Pick<Acknowledgeable, 'acknowledged'>): boolean {
  return isAcknowledged({ ...state, condition: knownCondition(state) });
}

/** Whether the acknowledgement is by this user, key or channel. */
export function isAcknowledgedBy(
  acknowledgement: Acknowledgement | null,
  { kind, id }: Acknowledger,
): boolean {
  return acknowledgement?.by.kind === kind && acknowledgement.by.id === id;
}

/** The wait after a notice of a condition: it begins again only if the condition is the worst so far. */
export function waitAfterNotice(
  before: AcknowledgementWait | null,
  condition: UnhealthyCondition,
  atMs: number,
): AcknowledgementWait {
  if (before !== null && worseOf(before.worst, condition) === before.worst) return before;
  return { worst: condition, sinceMs: atMs, isEscalated: false };
}

/**
 * When the escalation step is due, in epoch milliseconds; null if it never is: the problem is
 * acknowledged or was escalated, or there is no step.
 *
 * @param afterMs how long the alert waits for an acknowledgement; null without a step
 */
export function escalationDueAtMs(state: Acknowledgeable, afterMs: number | null): number | null {
  const { condition, wait } = state;
  if (afterMs === null || wait === null || wait.isEscalated || condition === 'passing') return null;
  return isAcknowledged(state) ? null : wait.sinceMs + afterMs;
}
