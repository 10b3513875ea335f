import { lastSlotAt, nextSlotAfter } from '../../../src/model/schedule/slot-rule.ts';
import { quantile } from '../row.ts';
import type { PlannedCheck } from './checks.ts';

/** The reports of the drivers about one round. */
export interface Seen {
  /** Check, slot, start (both epoch milliseconds), error of firstByte. */
  readonly runs: readonly (readonly [string, number, number, number | null])[];
  /** Address and instant of each connection, one after the other. */
  readonly accepted: readonly number[];
}

/** Slots between the two instants, epoch milliseconds. */
export interface Window {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Judged {
  readonly slots: number;
  /** Slots without a run, or with a second one. */
  readonly missed: number;
  readonly lateP50Ms: number;
  readonly lateP99Ms: number;
  readonly arrivedP50Ms: number;
  readonly arrivedP99Ms: number;
  readonly errorsMs: readonly number[];
}

/**
 * Judges every slot that was due in the window.
 *
 * @throws Error if the agent's times and the target's cannot both be true
 */
export function judge(checks: readonly PlannedCheck[], seen: Seen, window: Window): Judged {
  const starts = new Map<string, number[]>();
  const errorsMs: number[] = [];
  const lateMs: number[] = [];
  for (const [id, slotMs, startedAtMs, errorMs] of seen.runs) {
    if (slotMs <= window.fromMs || slotMs > window.toMs) continue;
    const key = `${id} ${slotMs}`;
    starts.set(key, [...(starts.get(key) ?? []), startedAtMs]);
    // Results have whole milliseconds, rounded down: it started less than 1 ms later.
    lateMs.push(startedAtMs + 1 - slotMs);
    if (errorMs !== null) errorsMs.push(Math.abs(errorMs));
  }
  const arrivals = arrivalsByAddress(seen.accepted);
  const arrivedMs: number[] = [];
  let slots = 0;
  let missed = 0;
  for (const check of checks) {
    const first = nextSlotAfter(check, window.fromMs);
    for (let slotMs = first; slotMs <= window.toMs; slotMs += check.periodMs) {
      slots += 1;
      const [startedAtMs, again] = starts.get(`${check.id} ${slotMs}`) ?? [];
      if (startedAtMs === undefined || again !== undefined) missed += 1;
      if (startedAtMs === undefined || check.address === null) continue;
      const arrivalMs = arrivals
        .get(check.address)
        ?.find((ms) => ms >= slotMs - 1 && lastSlotAt(check, ms + 1) === slotMs);
      // A clock that is read in two processes may differ by a little.
      if (arrivalMs === undefined || arrivalMs < startedAtMs - 2) {
        throw new Error(
          `${check.id} is said to have started ${startedAtMs - slotMs} ms after its slot, which its target did not see`,
        );
      }
      arrivedMs.push(arrivalMs - slotMs);
    }
  }
  const [lateP50Ms, lateP99Ms] = [quantile(lateMs, 0.5), quantile(lateMs, 0.99)];
  const [arrivedP50Ms, arrivedP99Ms] = [quantile(arrivedMs, 0.5), quantile(arrivedMs, 0.99)];
  return { slots, missed, lateP50Ms, lateP99Ms, arrivedP50Ms, arrivedP99Ms, errorsMs };
}

function arrivalsByAddress(accepted: readonly number[]): Map<number, number[]> {
  const arrivals = new Map<number, number[]>();
  for (let at = 0; at + 1 < accepted.length; at += 2) {
    const address = accepted[at] ?? 0;
    const known = arrivals.get(address);
    const ms = accepted[at + 1] ?? Number.NaN;
    if (known === undefined) arrivals.set(address, [ms]);
    else known.push(ms);
  }
  return arrivals;
}
