import { periodText, type Rhythm } from '../../model/check/heartbeat.ts';
import { groupBy } from '../../runtime/group-by.ts';
import type { AlertEngine, AlertObservation } from '../alerts/engine.ts';
import type { Sql } from '../database/store.ts';
import {
  afterPing,
  countedAnew,
  type HeartbeatState,
  judge,
  type TimeRange,
} from './heartbeat-state-machine.ts';
import { earlyEventOf } from './pings/early-ping-events.ts';
import { type HeartbeatStep, type LockedHeartbeat, putSteps } from './sql.ts';

/** Alerts about heartbeats that fail or recover. Their checks are locked. */
export type HeartbeatAlerts = Pick<AlertEngine, 'observe'>;

/** The pauses of checks with these tags that overlap the range. */
export type PausesBetween = (
  sql: Sql,
  asked: {
    readonly accountId: string;
    readonly tags: readonly string[];
    readonly fromMs: number;
    readonly toMs: number;
  },
) => Promise<readonly TimeRange[]>;

export interface JudgingParts {
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly alerts: HeartbeatAlerts;
  readonly pausesBetween: PausesBetween;
}

/** Stands for the location of a run in alerts. */
const LOCATION = 'heartbeat';
const NO_PING = 'No ping was received';

export interface HeartbeatTransition extends HeartbeatStep {
  readonly rhythm: Rhythm;
}

/** A locked heartbeat and its changes to store. */
export interface SettledHeartbeat {
  readonly heartbeat: LockedHeartbeat;
  /** null if nothing changed. */
  readonly step: HeartbeatTransition | null;
}

/**
 * Applies the passing of time to a locked heartbeat: a pause excuses it, its deadline passes, or it
 * is not activated and expects no ping.
 */
export async function settleHeartbeat(
  tx: Sql,
  { ids, pausesBetween }: Omit<JudgingParts, 'alerts'>,
  heartbeat: LockedHeartbeat,
  atMs: number,
): Promise<SettledHeartbeat> {
  const { accountId, tags, rhythm, position, dueMs, isActive } = heartbeat;
  if (position.countedFromMs === null || position.isFailing || !isActive) {
    const waiting = { ...heartbeat, dueMs: null };
    return { heartbeat: waiting, step: dueMs === null ? null : stepOf(waiting, null) };
  }
  const fromMs = position.countedFromMs + rhythm.periodMs;
  const pauses =
    fromMs > atMs ? [] : await pausesBetween(tx, { accountId, tags, fromMs, toMs: atMs });
  const judged = judge(rhythm, position, pauses, atMs);
  const { failedAtMs, deadlineMs } = judged;
  const after = { ...heartbeat, position: judged.position, dueMs: deadlineMs };
  if (failedAtMs === null) {
    return { heartbeat: after, step: deadlineMs === dueMs ? null : stepOf(after, null) };
  }
  const failed = { ...after, early: null, failingSinceMs: failedAtMs };
  const event = { id: ids(), state: 'FAILING', atMs: failedAtMs, pings: 0 } as const;
  return {
    heartbeat: failed,
    step: stepOf(failed, { ...event, source: NO_PING, userAgent: '' }),
  };
}

/** The source of a ping, and the number of pings it stands for. */
export interface Ping {
  readonly source: string;
  readonly userAgent: string;
  readonly pings: number;
}

/** Applies a ping to a heartbeat that is settled at the instant, so that a failure precedes the ping. */
export function pinged(
  { ids }: Pick<JudgingParts, 'ids'>,
  heartbeat: LockedHeartbeat,
  nowMs: number,
  { source, userAgent, pings }: Ping,
): HeartbeatTransition & { readonly state: HeartbeatState } {
  const { rhythm, isActive, failingSinceMs } = heartbeat;
  const atMs = failingSinceMs === null ? nowMs : Math.max(nowMs, failingSinceMs + 1);
  const before = isActive ? heartbeat.position : countedAnew(heartbeat.position, atMs);
  const { state, position } = afterPing(rhythm, before, atMs);
  const early = state === 'EARLY' ? earlyEventOf(heartbeat.early, atMs, ids) : null;
  const id = early?.id ?? ids();
  const dueMs = atMs + rhythm.periodMs + rhythm.graceMs;
  const event = { id, state, atMs, source, userAgent, pings };
  return { ...stepOf({ ...heartbeat, position, dueMs, early }, event), state };
}

function stepOf(
  { accountId, checkId, name, rhythm, position, dueMs, early }: LockedHeartbeat,
  event: HeartbeatStep['event'],
): HeartbeatTransition {
  return { accountId, checkId, name, rhythm, position, dueMs, early, event };
}

/** Stores the steps, and alerts about failures and recoveries. */
export async function record(
  tx: Sql,
  { alerts }: Pick<JudgingParts, 'alerts'>,
  steps: readonly HeartbeatTransition[],
  atMs: number,
): Promise<void> {
  await putSteps(tx, { steps, atMs });
  for (const [accountId, own] of groupBy(steps, (step) => step.accountId)) {
    const observations = own.flatMap((step) => observationOf(step) ?? []);
    if (observations.length > 0) await alerts.observe(tx, accountId, observations, atMs);
  }
}

/** null if the state of the heartbeat did not change. */
function observationOf({ checkId, event, rhythm }: HeartbeatTransition): AlertObservation | null {
  if (event === null || (event.state !== 'FAILING' && event.state !== 'LATE')) return null;
  const isFailing = event.state === 'FAILING';
  const { periodMs, graceMs } = rhythm;
  const waited = `${periodText(periodMs)} and a grace of ${periodText(graceMs)}`;
  return {
    checkId,
    slotMs: event.atMs,
    location: LOCATION,
    condition: isFailing ? 'failing' : 'passing',
    responseTime: 0,
    error: isFailing ? `${NO_PING} within ${waited}` : null,
    statusCode: null,
    startedAtMs: event.atMs,
    sslDaysRemaining: null,
  };
}
