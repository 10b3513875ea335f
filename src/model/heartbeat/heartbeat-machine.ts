import type { Rhythm } from './heartbeat.ts';

/**
 * What a heartbeat does at an instant. Its period is counted from the last ping, or from later where
 * something kept pings away: a pause (see `judge`), the time in which it was deactivated, an absence
 * of the service itself (service/heartbeats/sql.ts). Each limit belongs to the later of the two states.
 *
 * | state | when |
 * |---|---|
 * | EARLY | a ping less than half a period after the one before: it belongs to no expected beat |
 * | RECEIVED | the first ping of all; a ping that is neither early nor late |
 * | GRACE | a ping when the period is over and the grace is not |
 * | LATE | a ping when the grace is over, so after FAILING; the heartbeat is well again |
 * | FAILING | no ping: at the very instant when the grace is over, once |
 *
 * Half a period, since what pings regularly never does so to the millisecond: were a ping early
 * whenever it came before the end of the period, every other ping of a healthy job would be.
 */
export const HEARTBEAT_STATES = ['EARLY', 'RECEIVED', 'GRACE', 'LATE', 'FAILING'] as const;
export type HeartbeatState = (typeof HEARTBEAT_STATES)[number];

/** What is to be known of a heartbeat between two events. Epoch milliseconds. */
export interface HeartbeatPosition {
  /** null before the first ping: until then nothing is expected. */
  readonly lastPingMs: number | null;
  /** From when the period is counted; null before the first ping. May be in the future. */
  readonly countedFromMs: number | null;
  readonly isFailing: boolean;
}

export const NEVER_PINGED: HeartbeatPosition = {
  lastPingMs: null,
  countedFromMs: null,
  isFailing: false,
};

/** From and to in epoch milliseconds; to is not in it. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A standing at an instant, with all that came without a ping. */
export interface Judged {
  readonly standing: HeartbeatPosition;
  /** When it fails if no ping comes; null before the first ping, and where it has failed. */
  readonly deadlineMs: number | null;
  /** Where it has failed by this: when. */
  readonly failedAtMs: number | null;
}

/** When the period is over; null where nothing is expected. */
export function expectedAt({ periodMs }: Rhythm, standing: HeartbeatPosition): number | null {
  return standing.countedFromMs === null || standing.isFailing
    ? null
    : standing.countedFromMs + periodMs;
}

/** A ping at an instant for which the standing was judged. */
export function afterPing(
  rhythm: Rhythm,
  standing: HeartbeatPosition,
  atMs: number,
): { readonly state: HeartbeatState; readonly standing: HeartbeatPosition } {
  return {
    state: stateOfPing(rhythm, standing, atMs),
    standing: { lastPingMs: atMs, countedFromMs: atMs, isFailing: false },
  };
}

function stateOfPing(rhythm: Rhythm, standing: HeartbeatPosition, atMs: number): HeartbeatState {
  if (standing.isFailing) return 'LATE';
  if (standing.lastPingMs === null) return 'RECEIVED';
  if (atMs - standing.lastPingMs < rhythm.periodMs / 2) return 'EARLY';
  return atMs < (expectedAt(rhythm, standing) ?? atMs) ? 'RECEIVED' : 'GRACE';
}

/**
 * Where a ping was expected within a pause, a whole period is granted from its end: what was paused
 * may come so late. A pause that begins in the grace makes that longer by as much, and no more: a
 * pause that comes again every day must not put off for ever what has failed.
 *
 * @param pauses those that touch the time from when the ping was expected to the instant, in any
 *   order; those that begin later say nothing yet
 */
export function judge(
  rhythm: Rhythm,
  before: HeartbeatPosition,
  pauses: readonly Span[],
  atMs: number,
): Judged {
  let standing = before;
  let expectedMs = expectedAt(rhythm, standing);
  if (expectedMs === null) return { standing, deadlineMs: null, failedAtMs: null };
  let deadlineMs = expectedMs + rhythm.graceMs;
  for (const { fromMs, toMs } of merged(pauses)) {
    if (fromMs > atMs || toMs <= expectedMs) continue;
    if (fromMs <= expectedMs) {
      standing = countedAnew(standing, toMs);
      expectedMs = toMs + rhythm.periodMs;
      deadlineMs = expectedMs + rhythm.graceMs;
    } else if (fromMs < deadlineMs) {
      deadlineMs += toMs - fromMs;
    }
  }
  if (deadlineMs > atMs) return { standing, deadlineMs, failedAtMs: null };
  return {
    standing: { ...standing, isFailing: true },
    deadlineMs: null,
    failedAtMs: deadlineMs,
  };
}

/** A whole period from the instant on, where something is expected at all. */
export function countedAnew(standing: HeartbeatPosition, fromMs: number): HeartbeatPosition {
  if (standing.countedFromMs === null || standing.isFailing) return standing;
  return { ...standing, countedFromMs: Math.max(standing.countedFromMs, fromMs) };
}

/** In order, and those that touch each other as one. */
function merged(spans: readonly Span[]): readonly Span[] {
  const whole: Span[] = [];
  for (const span of spans.toSorted((one, other) => one.fromMs - other.fromMs)) {
    const last = whole.at(-1);
    if (last === undefined || last.toMs < span.fromMs) whole.push(span);
    else if (last.toMs < span.toMs) whole.splice(-1, 1, { ...last, toMs: span.toMs });
  }
  return whole;
}
