import {
  MONITORING_PROBLEMS,
  type MonitoringProblem,
  PROBLEM_RULES,
} from '../../../model/alerting/monitoring-problems.ts';
import { MINUTE_MS } from '../../../model/time-units.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { runEvery } from '../../../runtime/run-every.ts';
import { twoUnitText } from '../../../runtime/text/duration-text.ts';
import { VERSION } from '../../../runtime/version.ts';
import type { Sql, Store } from '../../database/store.ts';
import { storeErrorKind } from '../../database/store-errors.ts';
import { type Page, rangeOf } from '../../http/resources/paging.ts';
import { PollAvailability } from '../../private-locations/poll-availability.ts';
import type { Silences } from '../maintenance-silences.ts';
import { detectProblems } from './detect.ts';
import { type DiskSpace, timedDiskReader } from './disk-space.ts';
import { createProblemNotices } from './problem-notices.ts';
import {
  beginProblems,
  countProblems,
  deleteUncertainProblems,
  endProblems,
  extendProblems,
  type LengthByKind,
  listProblems,
  lockPendingProblems,
  type OpenProblem,
  type ProblemFilter,
  putProblemPending,
  type StoredProblem,
  saveFoundProblems,
} from './sql.ts';
import { subjectName } from './subject.ts';

export type { OpenProblem } from './sql.ts';

export interface MonitoringProblemsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly silences: Silences;
  /** Reads the disk of the embedded database and of artifacts; null if there is none. */
  readonly readDisk: () => Promise<DiskSpace | null>;
  /** Whether the database is on that disk. Otherwise the disk only has metrics: a database server has its own. */
  readonly hasDatabaseOnDisk: boolean;
  /** See Detection. Default: false. */
  readonly isOnDemand?: boolean;
  /** The version of the service. Default: its own. */
  readonly version?: string;
}

/**
 * Detects problems of monitoring itself, and notifies channels of their begin and their end:
 * src/service/README.md, "Problems of monitoring itself". Replicas share the work.
 */
export interface MonitoringProblems {
  /** The problems that have begun and have not ended, the worst and newest first. */
  list(accountId: string, filter: ProblemFilter, page: Page): Promise<readonly OpenProblem[]>;
  /** Ends and begins problems. Stops between two batches once the signal aborts. */
  scan(signal?: AbortSignal): Promise<void>;
  /** Scans about every 15 s until the signal aborts. Logs failures. */
  maintain(signal: AbortSignal): Promise<void>;
  /** The counts of the last scan. */
  counts(): ProblemCounts;
}

export interface ProblemCounts {
  /** The open problems of all accounts. */
  readonly open: Readonly<Record<MonitoringProblem, number>>;
  /** null without DATA_DIR. */
  readonly disk: DiskSpace | null;
}

const SCAN_EVERY_MS = 15_000;
const MAX_BACK_OFF_MS = 60_000;
/** A scan of a busy database may take half a minute. A longer gap counts as an interruption of the service. */
const MAX_GAP_MS = 60_000;
/** After this time without a scan that counts, it logs a warning. */
const MAX_UNSETTLED_MS = 5 * MINUTE_MS;
/** After an interruption, agents need this time to poll again. */
const AGENTS_RETURN_MS = 45_000;
const PROBLEMS_AT_ONCE = 20;

const lengths = (of: (problem: MonitoringProblem) => number): LengthByKind =>
  Object.fromEntries(MONITORING_PROBLEMS.map((kind) => [kind, of(kind)])) as LengthByKind;
const BEGINS_AFTER = lengths((kind) => PROBLEM_RULES[kind].beginsAfterMs);
const ENDS_AFTER = lengths((kind) => PROBLEM_RULES[kind].endsAfterMs);
const NONE_OPEN = lengths(() => 0);

export function createMonitoringProblems(parts: MonitoringProblemsParts): MonitoringProblems {
  const { store, clock, log, hasDatabaseOnDisk, isOnDemand = false, version = VERSION } = parts;
  const readDisk = timedDiskReader(clock, parts.readDisk);
  const notices = createProblemNotices(parts);
  const availability = new PollAvailability(clock, { maxGapMs: MAX_GAP_MS });
  let counts: ProblemCounts = { open: NONE_OPEN, disk: null };
  /** Monotonic: since when no scan has counted; null if the last one did. */
  let unsettledSinceMs: number | null = null;
  let isUnsettledLogged = false;

  /** Runs a step for a few problems at a time until none is left. */
  async function inBatches<Problem extends StoredProblem>(
    step: (tx: Sql, limit: number) => Promise<readonly Problem[]>,
    after: (problem: Problem) => void,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    while (signal?.aborted !== true) {
      const done = await store.transaction((tx) => step(tx, PROBLEMS_AT_ONCE));
      for (const problem of done) after(problem);
      if (done.length < PROBLEMS_AT_ONCE) return;
    }
  }

  async function notify(tx: Sql, problem: StoredProblem, atMs: number): Promise<void> {
    const isPending = await notices.begun(tx, problem, atMs);
    await putProblemPending(tx, { id: problem.id, isPending });
  }

  async function end(atMs: number, signal?: AbortSignal): Promise<void> {
    await inBatches(
      async (tx, limit) => {
        const ended = await endProblems(tx, { atMs, after: ENDS_AFTER, limit });
        for (const problem of ended) await notices.ended(tx, problem, atMs);
        return ended;
      },
      (problem) =>
        log.info(
          factsOf(problem),
          problem.isKnown
            ? `over: ${headlineOf(problem)}`
            : `no longer checked, because its agents are gone or its channel was deleted: ${headlineOf(problem)}`,
        ),
      signal,
    );
  }

  async function begin(atMs: number, signal?: AbortSignal): Promise<void> {
    await inBatches(
      async (tx, limit) => {
        const begun = await beginProblems(tx, { atMs, after: BEGINS_AFTER, limit });
        for (const problem of begun) await notify(tx, problem, atMs);
        return begun;
      },
      (problem) => log.warn(factsOf(problem), `${headlineOf(problem)}: ${problem.message}`),
      signal,
    );
  }

  /** Notifies channels whose maintenance window has ended, or that deliver again. */
  async function notifyPending(atMs: number, signal?: AbortSignal): Promise<void> {
    let afterId = '';
    await inBatches(
      async (tx, limit) => {
        const found = await lockPendingProblems(tx, { afterId, limit });
        for (const problem of found) await notify(tx, problem, atMs);
        return found;
      },
      ({ id }) => {
        afterId = id;
      },
      signal,
    );
  }

  /** Whether agents could poll for AGENTS_RETURN_MS. Logs once if they could not for MAX_UNSETTLED_MS. */
  function isSettledNow(): boolean {
    const isSettled = availability.observe() >= AGENTS_RETURN_MS;
    const nowMs = clock.monotonicMs();
    if (isSettled) {
      unsettledSinceMs = null;
      isUnsettledLogged = false;
      return true;
    }
    unsettledSinceMs ??= nowMs;
    if (!isUnsettledLogged && nowMs - unsettledSinceMs > MAX_UNSETTLED_MS) {
      isUnsettledLogged = true;
      log.warn(
        `problems of monitoring itself have not been checked for ${twoUnitText(nowMs - unsettledSinceMs)}: the database was too slow or not reachable, or the clock was set`,
      );
    }
    return false;
  }

  async function scan(signal?: AbortSignal): Promise<void> {
    const isSettled = isSettledNow();
    const atMs = clock.wallMs();
    const disk = await readDisk();
    counts = { ...counts, disk };
    try {
      if (isSettled) {
        const { bad, near } = await detectProblems(store, {
          atMs,
          version,
          disk: hasDatabaseOnDisk ? disk : null,
          isOnDemand,
        });
        await saveFoundProblems(store, { found: bad, atMs });
        await extendProblems(store, { ids: near, atMs });
        await deleteUncertainProblems(store, { atMs });
        await end(atMs, signal);
        await begin(atMs, signal);
        await notifyPending(atMs, signal);
      }
      const open = await countProblems(store);
      const found = Object.fromEntries(open.map(({ kind, problems }) => [kind, problems]));
      counts = { disk, open: { ...NONE_OPEN, ...found } };
    } catch (error) {
      availability.interrupt();
      throw error;
    }
  }

  return {
    list: (accountId, filter, page) =>
      listProblems(store, { accountId, ...filter, ...rangeOf(page) }),

    scan,

    maintain(signal) {
      const options = {
        everyMs: SCAN_EVERY_MS,
        maxMs: MAX_BACK_OFF_MS,
        failure: 'problems of monitoring itself could not be checked',
        kindOf: storeErrorKind,
        log,
      };
      return runEvery(clock, options, () => scan(signal), signal);
    },

    counts: () => counts,
  };
}

function headlineOf({ kind, subject }: StoredProblem): string {
  return PROBLEM_RULES[kind].headline(subjectName(subject));
}

function factsOf({ accountId, kind, subjectId, since }: StoredProblem) {
  return { accountId, problem: kind, subjectId, since: since.toISOString() };
}
