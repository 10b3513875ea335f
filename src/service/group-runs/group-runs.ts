import { DAY_MS } from '../../model/time-units.ts';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { WakeSignal } from '../../runtime/wake-signal.ts';
import { lockGroupShared } from '../check-groups/shared.sql.ts';
import { runSweeps } from '../check-runs/sweeps.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Sql, Store } from '../database/store.ts';
import { conflict, invalid, notFound } from '../errors.ts';
import { bodyProblem } from '../http/resources/input-problems.ts';
import { advanceGroupRun, sweepGroupRuns } from './advance.ts';
import { cancelGroupRun } from './cancelling.ts';
import { type GroupCheck, type PlannedMember, planGroupRun } from './plan.ts';
import type { SkipReason } from './progress.ts';
import {
  countOpenGroupRuns,
  deleteOldGroupRuns,
  findGroupRun,
  GROUP_RUNS_CHANNEL,
  insertGroupRun,
  listGroupChecks,
  listMembers,
  type RequestedBy,
  type StoredGroupRun,
  type StoredMember,
} from './sql.ts';

export type { RequestedBy, StoredGroupRun, StoredMember } from './sql.ts';

export interface GroupRunsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes a UUID. */
  readonly ids: () => string;
  /** Retention in whole days, the same as for results. Default: 30. */
  readonly retentionDays?: number;
}

export interface GroupRun extends StoredGroupRun {
  /** The members in the order in which they run. */
  readonly members: readonly StoredMember[];
}

/**
 * Runs of all checks of a group, each of which is a requested run. A group run is
 *
 * | state | entered by |
 * |---|---|
 * | running | `request` |
 * | ended | `maintain`, after the last run has ended |
 * | cancelled | `cancel`, with all runs that have not ended |
 */
export interface GroupRuns {
  /**
   * Starts the first checks of the group. A group that is not activated runs, too; its checks that are
   * not activated are skipped.
   *
   * @param location a slug; null for all locations with an agent
   * @throws ServiceError 404 without the group, 400 for a location in which none of its checks runs, 409
   *   if MAX_OPEN are open, or it has more than MAX_MEMBERS runs or nothing to run
   */
  request(
    key: AccountKey<number>,
    input: { readonly location: string | null; readonly requestedBy: RequestedBy },
  ): Promise<GroupRun>;
  /** @throws ServiceError 404 */
  get(key: AccountKey): Promise<GroupRun>;
  /**
   * Cancels all runs of a group run that have not ended. Idempotent.
   *
   * @throws ServiceError 404; 409 if it has ended
   */
  cancel(key: AccountKey<string>): Promise<void>;
  /** One pass of `maintain`. @returns how many group runs it advanced */
  sweep(): Promise<number>;
  /** Advances group runs when a run has ended, and about every second, until the signal aborts. */
  maintain(signal: AbortSignal): Promise<void>;
}

/** Maximum number of runs of a group run. Bounds the response and the duration of a transaction. */
export const MAX_MEMBERS = 1_000;
/** Maximum number of group runs of an account that have not ended. */
export const MAX_OPEN = 20;
const DELETE_EVERY_MS = 3_600_000;
const DELETE_BATCH = 500;

export function createGroupRuns(parts: GroupRunsParts): GroupRuns {
  const { store, clock, log, ids, retentionDays = 30 } = parts;
  const advancing = { store, ids, nowMs: () => clock.wallMs() };

  const sweep = (): Promise<number> => sweepGroupRuns(advancing);

  async function deleteOld(signal: AbortSignal): Promise<void> {
    // Retained for as long as the runs themselves.
    const old = { olderThanMs: (retentionDays + 2) * DAY_MS, limit: DELETE_BATCH };
    while (!signal.aborted && (await deleteOldGroupRuns(store, old)) === DELETE_BATCH);
  }

  return {
    request(key, { location, requestedBy }) {
      const { accountId, id: groupId } = key;
      return store.transaction(async (tx) => {
        const group = await lockGroupShared(tx, key);
        if (group === null) throw notFound('check group');
        const members = planOf(await listGroupChecks(tx, key, MAX_MEMBERS + 1), location);
        const { name: groupName, concurrency } = group.fields;
        const id = ids();
        const run = { id, accountId, groupId, groupName, location, concurrency, requestedBy };
        if ((await countOpenGroupRuns(tx, accountId)) >= MAX_OPEN) throw tooManyOpen();
        await insertGroupRun(tx, { ...run, members });
        await advanceGroupRun(tx, run, advancing);
        return read(tx, { accountId, id });
      });
    },

    get: (key) => read(store, key),

    cancel: (key) => store.transaction((tx) => cancelGroupRun(tx, key)),

    sweep,

    async maintain(signal) {
      const wake = new WakeSignal();
      const end = await listen(store, wake.ring).catch((error: unknown) => {
        log.warn(`group runs advance every second, and not at once: ${messageOf(error)}`);
        return null;
      });
      const failure = 'runs of groups could not be advanced';
      const sweeps = { failure, sweep, deleteEveryMs: DELETE_EVERY_MS, deleteOld, wake };
      await runSweeps({ clock, log }, sweeps, signal);
      // Rejects where the store is closed already.
      await end?.().catch(() => {});
    },
  };
}

function listen(store: Store, ring: () => void): Promise<() => Promise<void>> {
  return store.listen(GROUP_RUNS_CHANNEL, ring);
}

async function read(sql: Sql, key: AccountKey): Promise<GroupRun> {
  const run = await findGroupRun(sql, key);
  if (run === null) throw notFound('check group run');
  return { ...run, members: await listMembers(sql, run.id) };
}

/** @throws ServiceError as `request` does */
function planOf(checks: readonly GroupCheck[], location: string | null): readonly PlannedMember[] {
  if (checks.length === 0) throw conflict('The group has no checks: put some into it first', {});
  const slugs = new Set(checks.flatMap(({ locations }) => locations.map(({ slug }) => slug)));
  if (location !== null && !slugs.has(location)) {
    const known = slugs.size === 0 ? ', which have none' : `: ${[...slugs].join(', ')}`;
    const message = `must be a private location of the checks of the group${known}`;
    throw invalid([bodyProblem(['location'], message)]);
  }
  const members = planGroupRun(checks, location);
  if (members.length > MAX_MEMBERS) {
    const message = `The group has more than ${MAX_MEMBERS} runs: run it in one location, or divide it`;
    throw conflict(message, { limit: MAX_MEMBERS });
  }
  if (members.every(({ reason }) => reason !== null)) throw nothingToRun(members);
  return members;
}

const WORDS: Readonly<Record<SkipReason, string>> = {
  deactivated: 'deactivated',
  heartbeat: 'heartbeats, which wait for pings',
  no_location: 'without a private location',
  no_agent: 'without an agent',
  check_deleted: 'deleted',
};

function nothingToRun(members: readonly PlannedMember[]): Error {
  const reasons: Partial<Record<SkipReason, number>> = {};
  for (const { reason } of members) {
    if (reason !== null) reasons[reason] = (reasons[reason] ?? 0) + 1;
  }
  const list = Object.entries(reasons).map(
    ([reason, count]) => `${count} ${WORDS[reason as SkipReason]}`,
  );
  return conflict(`None of the checks of the group can be run: ${list.join(', ')}`, { reasons });
}

function tooManyOpen(): Error {
  const message = `${MAX_OPEN} runs of groups have not ended; wait until some have`;
  return conflict(message, { limit: MAX_OPEN });
}
