import { HOUR_MS, MINUTE_MS } from '../time-units.ts';
import type { UnhealthyCondition } from './alert.ts';

/**
 * A check with more alerts than this within the window flaps: src/service/README.md, "Flapping".
 */
const MAX_ALERTS = 5;
const WINDOW_MS = 30 * MINUTE_MS;
const WINDOW_PERIODS = 10;
const MAX_WINDOW_MS = 6 * HOUR_MS;
/** A check is calm after this part of the window without a change that would be an alert. */
const CALM_PART = 1 / 2;

/** How often the condition of a check changes. */
export interface Flapping {
  /** The last times at which it caused an alert, or would have, in order; epoch milliseconds. */
  readonly alertsMs: readonly number[];
  /** null while the check does not flap. */
  readonly started: {
    /** The first of the alerts that made it flap; epoch milliseconds. */
    readonly sinceMs: number;
    /** The condition that the notice of the flapping reported. */
    readonly as: UnhealthyCondition;
    /** The alert that reported the flapping. */
    readonly alertId: string;
  } | null;
}

export const STEADY: Flapping = { alertsMs: [], started: null };

/** @param periodMs between two runs; 0 for a check that does not run */
export function flappingWindowMs(periodMs: number): number {
  return Math.min(MAX_WINDOW_MS, Math.max(WINDOW_MS, WINDOW_PERIODS * periodMs));
}

/**
 * When a flapping check is calm, unless it changes before; epoch milliseconds. null if it does not
 * flap.
 */
export function calmAtMs({ alertsMs, started }: Flapping, windowMs: number): number | null {
  const lastMs = alertsMs.at(-1);
  return started === null || lastMs === undefined ? null : lastMs + CALM_PART * windowMs;
}

/**
 * - `given`: the alert is sent.
 * - `started`: the check flaps from now on.
 * - `withheld`: the check flaps already.
 */
type FlappingStep = 'given' | 'started' | 'withheld';

/**
 * Counts an alert that begins or ends a problem; an alert that changes a problem is not counted. If
 * the alert reports a worse condition than the notice of the flapping, that notice is sent again.
 *
 * @param as the condition that the alert reports, or whose end it reports
 * @param atMs now; epoch milliseconds
 */
export function countAlert(
  before: Flapping,
  {
    alertId,
    as,
    isCounted,
    atMs,
    windowMs,
  }: {
    readonly alertId: string;
    readonly as: UnhealthyCondition;
    readonly isCounted: boolean;
    readonly atMs: number;
    readonly windowMs: number;
  },
): { readonly flapping: Flapping; readonly step: FlappingStep } {
  const recent = before.alertsMs.filter((ms) => ms > atMs - windowMs);
  const alertsMs = isCounted ? [...recent, atMs].slice(-(MAX_ALERTS + 1)) : recent;
  const { started } = before;
  if (started !== null) {
    const isWorse = started.as === 'degraded' && as === 'failing';
    return isWorse
      ? { flapping: { alertsMs, started: { ...started, as, alertId } }, step: 'started' }
      : { flapping: { alertsMs, started }, step: 'withheld' };
  }
  const [sinceMs] = alertsMs;
  if (alertsMs.length <= MAX_ALERTS || sinceMs === undefined) {
    return { flapping: { alertsMs, started: null }, step: 'given' };
  }
  return { flapping: { alertsMs, started: { sinceMs, as, alertId } }, step: 'started' };
}
