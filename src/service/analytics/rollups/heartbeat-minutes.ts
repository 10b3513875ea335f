import { MINUTE_MS } from '../../../model/time-units.ts';
import { groupBy } from '../../../runtime/group-by.ts';
import type { HeartbeatDowntime } from '../../heartbeats/shared.sql.ts';

/** Counts of a heartbeat. It has no runs: each minute counts as one. */
export interface HeartbeatMinutes {
  readonly runs: number;
  readonly failures: number;
}

/** The minutes of heartbeats: src/service/README.md, "Analytics". */
export class HeartbeatTimes {
  readonly #byCheck: ReadonlyMap<string, readonly HeartbeatDowntime[]>;
  readonly #nowMs: number;

  constructor(rows: readonly HeartbeatDowntime[], nowMs: number) {
    this.#byCheck = groupBy(rows, ({ checkId }) => checkId);
    this.#nowMs = nowMs;
  }

  /**
   * Counts the whole minutes of the span since the first ping, and those in which the heartbeat failed.
   *
   * @param span whole hours or days, like those that were read; epoch milliseconds, `toMs` is exclusive
   * @param round how to round the minutes that failed
   * @returns null for a check of another type, and for a heartbeat without a ping
   */
  minutes(
    checkId: string,
    { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
    round: 'up' | 'down',
  ): HeartbeatMinutes | null {
    const rows = this.#byCheck.get(checkId);
    const [heartbeat] = rows ?? [];
    if (rows === undefined || heartbeat === undefined) return null;
    const { watchedSince, failingSince } = heartbeat;
    const sinceMs = Math.max(fromMs, watchedSince.getTime());
    const untilMs = Math.min(toMs, this.#nowMs);
    const runs = Math.max(0, Math.floor((untilMs - sinceMs) / MINUTE_MS));
    const overMs = rows
      .filter(({ start }) => start !== null && +start >= fromMs && +start < toMs)
      .reduce((sum, { downMs }) => sum + downMs, 0);
    const lastingMs =
      failingSince === null ? 0 : Math.max(0, untilMs - Math.max(sinceMs, failingSince.getTime()));
    const downMinutes = (overMs + lastingMs) / MINUTE_MS;
    const failures = round === 'up' ? Math.ceil(downMinutes) : Math.floor(downMinutes);
    return { runs, failures: Math.min(runs, failures) };
  }
}
