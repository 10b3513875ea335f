import type { Rhythm } from '../../model/check/heartbeat.ts';

/**
 * The state of a heartbeat at an instant. The period starts at the last ping, or later if pings were not
 * possible: because of a pause (see `judge`), a deactivation or a downtime of the service itself
 * (service/heartbeats/sql.ts). An instant exactly at a limit belongs to the later of the two states.
 *
 * | state | when |
 * |---|---|
 * | EARLY | a ping less than half a period after the one before: it belongs to no expected beat |
 * | RECEIVED | the first ping of all; a ping that is neither early nor late |
 * | GRACE | a ping when the period is over and the grace is not |
 * | LATE | a ping when the grace is over, therefore after FAILING; the heartbeat has recovered |
 * | FAILING | no ping: at the instant when the grace is over, once |
 *
 * The limit for EARLY is half a period because regular pings are never exact to the millisecond: if every ping
 * before the end of the period counted as early, every other ping of a healthy job would.
 */
export const HEARTBEAT_STATES = ['EARLY', 'RECEIVED', 'GRACE', 'LATE', 'FAILING'] as const;
export type HeartbeatState = (typeof HEARTBEAT_STATES)[number];

/** The saved position of a heartbeat between two events. Epoch milliseconds. */
export interface HeartbeatPosition {
  /** null before the first ping: until then nothing is expected. */
  readonly lastPingMs: number | null;
  /** The start of the period; null before the first ping. May be in the future. */
  readonly countedFromMs: number | null;
  readonly isFailing: boolean;
}

export const NEVER_PINGED: HeartbeatPosition = {
  lastPingMs: null,
  countedFromMs: null,
  isFailing: false,
};

/** Epoch milliseconds; `toMs` is exclusive. */
export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A position at an instant, with all changes applied that need no ping. */
export interface Judged {
  readonly position: HeartbeatPosition;
  /** When it fails if no ping comes; null before the first ping, and where it has failed. */
  readonly deadlineMs: number | null;
  /** When the heartbeat failed according to this judgement; null if it did not. */
  readonly failedAtMs: number | null;
}

/** The end of the period; null if no ping is expected. */
export function expectedAt({ periodMs }: Rhythm, position: HeartbeatPosition): number | null {
  return position.countedFromMs === null || position.isFailing
    ? null
    : position.countedFromMs + periodMs;
}

/** Applies a ping at the instant for which the position was judged. */
export function afterPing(
  rhythm: Rhythm,
  position: HeartbeatPosition,
  atMs: number,
): { readonly state: HeartbeatState; readonly position: HeartbeatPosition } {
  return {
    state: stateOfPing(rhythm, position, atMs),
    position: { lastPingMs: atMs, countedFromMs: atMs, isFailing: false },
  };
}

function stateOfPing(rhythm: Rhythm, position: HeartbeatPosition, atMs: number): HeartbeatState {
  if (position.isFailing) return 'LATE';
  if (position.lastPingMs === null) return 'RECEIVED';
  if (atMs - position.lastPingMs < rhythm.periodMs / 2) return 'EARLY';
  return atMs < (expectedAt(rhythm, position) ?? atMs) ? 'RECEIVED' : 'GRACE';
}

/**
 * Applies pauses and the deadline. If a ping was expected within a pause, the period starts again at the end
 * of the pause. A pause that starts within the grace only extends it by its own length: a daily pause must not
 * postpone a failure forever.
 *
 * @param pauses those that touch the time from when the ping was expected to the instant, in any
 *   order; those that start later do not count yet
 */
export function judge(
  rhythm: Rhythm,
  before: HeartbeatPosition,
  pauses: readonly TimeRange[],
  atMs: number,
): Judged {
  let position = before;
  let expectedMs = expectedAt(rhythm, position);
  if (expectedMs === null) return { position, deadlineMs: null, failedAtMs: null };
  let deadlineMs = expectedMs + rhythm.graceMs;
  for (const { fromMs, toMs } of merged(pauses)) {
    if (fromMs > atMs || toMs <= expectedMs) continue;
    if (fromMs <= expectedMs) {
      position = countedAnew(position, toMs);
      expectedMs = toMs + rhythm.periodMs;
      deadlineMs = expectedMs + rhythm.graceMs;
    } else if (fromMs < deadlineMs) {
      deadlineMs += toMs - fromMs;
    }
  }
  if (deadlineMs > atMs) return { position, deadlineMs, failedAtMs: null };
  return {
    position: { ...position, isFailing: true },
    deadlineMs: null,
    failedAtMs: deadlineMs,
  };
}

/** Restarts the period at the instant, unless no ping is expected. */
export function countedAnew(position: HeartbeatPosition, fromMs: number): HeartbeatPosition {
  if (position.countedFromMs === null || position.isFailing) return position;
  return { ...position, countedFromMs: Math.max(position.countedFromMs, fromMs) };
}

/** In order; spans that touch each other are merged. */
function merged(spans: readonly TimeRange[]): readonly TimeRange[] {
  const whole: TimeRange[] = [];
  for (const span of spans.toSorted((one, other) => one.fromMs - other.fromMs)) {
    const last = whole.at(-1);
    if (last === undefined || last.toMs < span.fromMs) whole.push(span);
    else if (last.toMs < span.toMs) whole.splice(-1, 1, { ...last, toMs: span.toMs });
  }
  return whole;
}
