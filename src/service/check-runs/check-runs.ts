import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { OneOffMessage } from '../../wire/v1/assignment.ts';
import type { HandoverRequest, HandoverResponse } from '../../wire/v1/handover.ts';
import { MAX_ONE_OFFS } from '../../wire/v1/limits.ts';
import { findCheck } from '../checks/shared.sql.ts';
import type { CheckVariables } from '../checks/variables/check-variables.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Sql, Store } from '../database/store.ts';
import { conflict, invalid, notFound } from '../errors.ts';
import { bodyProblem } from '../http/resources/input-problems.ts';
import type { AgentCaller } from '../private-locations/location-keys.ts';
import { findCancelledRuns, listToBeCancelled, type RunKey } from './cancelling.sql.ts';
import { cancelRun } from './cancelling.ts';
import { claimRuns, closeRuns, type LeaseHolder, listHeldRuns } from './claims.sql.ts';
import { runCheckRunExpiry, sweepCheckRuns } from './expiry.ts';
import { handOver } from './handovers.ts';
import { insertRequestedRun, MAX_SLOTS_TRIED } from './insert-requested-run.ts';
import { type CheckLocation, locationsOfCheck } from './locations.sql.ts';
import { type CheckRun, findRun, finishRuns } from './sql.ts';

export type { LeaseHolder } from './claims.sql.ts';
export { CHECK_RUN_STATES, type CheckRun, RUN_REASONS } from './sql.ts';

export interface CheckRunsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly checkVariables: Pick<CheckVariables, 'open'>;
  /** Retention in whole days, the same as for results. Default: 30. */
  readonly retentionDays?: number;
}

/**
 * Unscheduled runs: requested runs, and retries that one location hands over to another.
 *
 * | state | entered by | its agent |
 * |---|---|---|
 * | waiting | `request`, `handover`; `maintain`, when a retry returns to its own location | none |
 * | assigned | `claim` | the agent that claimed it while its lease lasts; then the next that claims it |
 * | done | `finished`: the FINAL is stored | – |
 * | expired | `maintain`, when no agent made it in time; a late FINAL makes it done | – |
 * | cancelled | `cancel`; a FINAL changes only its result | none; the agent that has it is notified |
 */
export interface CheckRuns {
  /**
   * Requests one run in the given location, or else in the check's first location with a live agent for
   * it, or else in its first. A deactivated check runs, too.
   *
   * @throws ServiceError 404 without the check, 400 for a location that is not one of its private
   *   locations, 409 where too many runs wait there or of the check were requested at this moment, and
   *   for a heartbeat
   */
  request(
    accountId: string,
    checkId: string,
    input: { readonly location: string | null },
  ): Promise<CheckRun>;
  /** @throws ServiceError 404 */
  get(key: AccountKey): Promise<CheckRun>;
  /**
   * Cancels a run on request that waits or is active: see `cancelRuns`. Idempotent.
   *
   * @throws ServiceError 404; 409 for a run that has ended, and for the retry of a scheduled run
   */
  cancel(key: AccountKey<string>): Promise<void>;
  /**
   * For a poll whose lease was renewed: claims for the agent the open runs of its location that it can
   * make and that no live agent has. Returns all that it has, has not closed and may still start, at
   * most MAX_ONE_OFFS and MAX_ONE_OFF_BYTES.
   */
  claim(sql: Sql, who: LeaseHolder): Promise<readonly OneOffMessage[]>;
  /** `claim` does not return these runs to the agent again. Ignores runs that the agent does not have. */
  close(sql: Sql, who: LeaseHolder, runIds: readonly string[]): Promise<void>;
  /** The ids of cancelled runs that the agent may still work at: not closed, and without a FINAL. */
  toBeCancelled(sql: Sql, who: LeaseHolder): Promise<readonly string[]>;
  /** Returns the runs among these that were cancelled. */
  cancelled(sql: Sql, accountId: string, runs: readonly RunKey[]): Promise<readonly RunKey[]>;
  /** Marks runs as done, in the transaction that stores their FINALs. */
  finished(
    sql: Sql,
    accountId: string,
    finals: readonly { readonly checkId: string; readonly sequenceId: string }[],
  ): Promise<void>;
  /** Offers a retry to another location; see handovers.ts. */
  handover(caller: AgentCaller, request: HandoverRequest): Promise<HandoverResponse>;
  /** One pass of `maintain`. @returns how many runs returned or expired */
  sweep(): Promise<number>;
  /** Returns or expires overdue runs, about every second until the signal aborts. */
  maintain(signal: AbortSignal): Promise<void>;
}

/** Maximum size of the JSON of checks in one answer to a poll. The first check is always sent. */
export const MAX_ONE_OFF_BYTES = 4 * 1024 * 1024;

export function createCheckRuns(parts: CheckRunsParts): CheckRuns {
  const { store, clock, log, ids, checkVariables, retentionDays = 30 } = parts;
  return {
    request(accountId, checkId, { location }) {
      return store.transaction(async (tx) => {
        const found = await findCheck(tx, { accountId, id: checkId });
        if (found === null) throw notFound('check');
        const { check } = found;
        if (check.checkType === 'HEARTBEAT') throw heartbeatIsPinged();
        const locations = await locationsOfCheck(tx, { accountId, id: checkId });
        const chosen = chooseLocation(locations, location);
        const id = ids();
        const run = { accountId, id, check, location: chosen, nowMs: clock.wallMs() };
        const outcome = await insertRequestedRun(tx, run);
        if (outcome === 'full') throw tooManyOpen(chosen.slug);
        if (outcome === 'no-slot') throw tooManyAtOnce(chosen.slug);
        const stored = await findRun(tx, { accountId, id });
        if (stored === null) throw notFound('check run');
        return stored;
      });
    },

    async get(key) {
      const run = await findRun(store, key);
      if (run === null) throw notFound('check run');
      return run;
    },

    cancel: ({ accountId, id }) => store.transaction((tx) => cancelRun(tx, accountId, id)),

    async claim(sql, who) {
      await claimRuns(sql, who, MAX_ONE_OFFS);
      const limits = { limit: MAX_ONE_OFFS, maxBytes: MAX_ONE_OFF_BYTES };
      const held = await listHeldRuns(sql, who, limits);
      return held.map(({ run, sealedVariables }) => {
        const key = { accountId: who.accountId, id: run.checkId };
        return { ...run, check: checkVariables.open(key, run.check, sealedVariables) };
      });
    },

    close: closeRuns,

    toBeCancelled: (sql, who) => listToBeCancelled(sql, who, MAX_ONE_OFFS),

    cancelled: (sql, accountId, runs) => findCancelledRuns(sql, { accountId, runs }),

    finished: (sql, accountId, finals) => finishRuns(sql, { accountId, finals }),

    handover: (caller, request) =>
      store.transaction((tx) => handOver(tx, ids(), caller, request, clock.wallMs())),

    sweep: () => sweepCheckRuns(store),

    maintain: (signal) => runCheckRunExpiry({ store, clock, log, retentionDays }, signal),
  };
}

function chooseLocation(
  locations: readonly CheckLocation[],
  requested: string | null,
): Pick<CheckLocation, 'id' | 'slug'> {
  const [first] = locations;
  if (first === undefined) {
    const message = 'must be a private location of the check, which has none: add one first';
    throw invalid([bodyProblem(['location'], message)]);
  }
  if (requested === null) return locations.find(({ isLive }) => isLive) ?? first;
  const found = locations.find(({ slug }) => slug === requested);
  if (found !== undefined) return found;
  const slugs = locations.map(({ slug }) => slug).join(', ');
  throw invalid([bodyProblem(['location'], `must be a private location of the check: ${slugs}`)]);
}

function heartbeatIsPinged(): Error {
  const message = 'A heartbeat check cannot be run: it waits for pings at its pingUrl';
  return conflict(message, { checkType: 'HEARTBEAT' });
}

function tooManyOpen(slug: string): Error {
  return conflict(`Too many runs are pending in ${slug}; wait until its agents finish some`, {
    location: slug,
    limit: MAX_ONE_OFFS,
  });
}

function tooManyAtOnce(slug: string): Error {
  const message = `Too many runs of the check were requested in ${slug} at this moment; try again`;
  return conflict(message, { location: slug, slots: MAX_SLOTS_TRIED });
}
