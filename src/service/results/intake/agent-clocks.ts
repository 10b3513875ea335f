import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { ThrottledLog } from '../../../runtime/throttled-log.ts';
import type { Deferral } from '../../../wire/v1/results.ts';
import { findClockAhead, raiseClockAhead } from '../../agents/shared.sql.ts';
import type { Sql, Store } from '../../database/store.ts';
import type { ResultSender } from './admission.ts';

/** Maximum number of locations whose last log line is remembered. */
const MAX_LOGGED = 1_000;

/** Handles wrong clocks of agents. */
export interface AgentClocks {
  /** Records deferred since the start because they were ahead of the service's clock; each resend counts. */
  readonly deferredRecords: number;
  /** Records that an agent's clock is fast: in its row, and in the log once a minute for each location. */
  deferred(sender: ResultSender, agentId: string, deferrals: readonly Deferral[]): Promise<void>;
  /**
   * Returns how far the agent's clock is behind, in milliseconds; 0 if it is not, or if that is unknown. The agent
   * reports it. An agent that lies makes old runs of its own location count as new, but it could also just report
   * new runs.
   */
  behindMs(sql: Sql, sender: ResultSender, agentId: string): Promise<number>;
}

export function createAgentClocks({
  store,
  clock,
  log,
}: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
}): AgentClocks {
  let deferredRecords = 0;
  const throttled = new ThrottledLog(clock, log, { maxKinds: MAX_LOGGED });

  return {
    get deferredRecords() {
      return deferredRecords;
    },

    async deferred({ locationId, slug }, agentId, deferrals) {
      deferredRecords += deferrals.length;
      const aheadMs = deferrals.reduce((most, { aheadMs: ms }) => Math.max(most, ms), 0);
      await raiseClockAhead(store, { locationId, agentId, aheadMs });
      throttled.warn(
        locationId,
        { location: slug, agentId, records: deferrals.length, aheadMs },
        `results of an agent are ${Math.round(aheadMs / 1000)} s ahead of the service's clock, and the agent resends them when that time comes: synchronize the clocks of both machines (NTP)`,
      );
    },

    async behindMs(sql, { locationId }, agentId) {
      return Math.max(0, -((await findClockAhead(sql, { locationId, agentId })) ?? 0));
    },
  };
}
