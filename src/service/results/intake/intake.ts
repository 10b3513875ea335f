import { type CompiledPauses, compilePauses } from '../../../model/schedule/pause.ts';
import type { SlotRange } from '../../../model/schedule/slot-range.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { createYielder } from '../../../runtime/event-loop.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { ReceivedResult } from '../../../wire/v1/check-result.ts';
import {
  type Deferral,
  type Rejection,
  type ResultsMessage,
  type ResultsResponse,
  readBatch,
} from '../../../wire/v1/results.ts';
import type { Sql, Store } from '../../database/store.ts';
import { badToken } from '../../errors.ts';
import { pausesOf } from '../../maintenance-windows/shared.sql.ts';
import type { AgentCaller } from '../../private-locations/location-keys.ts';
import { findPrivateLocation } from '../../private-locations/shared.sql.ts';
import type { SecretScrubbing } from '../../secrets/secret-scrubbing.ts';
import type { FinalsHandler } from '../finals-handler.ts';
import { withoutPaused } from '../missed-slots/paused-slots.ts';
import { recordMissed } from '../missed-slots/record-and-remove-missed.ts';
import type { ResultPartitions } from '../partitions.sql.ts';
import { splitByDay } from '../slot-ranges.ts';
import {
  admitMissed,
  admitRecord,
  admitResults,
  type ReceivedMissed,
  type ReceivedRecord,
  type ReceivedResultRecord,
  type ResultSender,
} from './admission.ts';
import type { AgentClocks } from './agent-clocks.ts';
import { asCancelled, type CancelledRuns, runNameOf } from './cancelled-results.ts';
import type { ResultStorage } from './result-storage.ts';
import { finalsInTime } from './results-in-time.ts';
import { settleFinals, storeResults } from './store-results.ts';
import type { ResultSubject } from './subjects.sql.ts';

/** The requested, unscheduled runs. */
export interface FinishedRuns {
  /** Returns the runs among these that were cancelled: their FINALs have no verdict. */
  cancelled(
    sql: Sql,
    accountId: string,
    runs: readonly { readonly checkId: string; readonly sequenceId: string }[],
  ): Promise<readonly { readonly checkId: string; readonly sequenceId: string }[]>;
  /** Called with the runs whose FINAL is stored, in the transaction that stores it. */
  finished(
    sql: Sql,
    accountId: string,
    finals: readonly { readonly checkId: string; readonly sequenceId: string }[],
  ): Promise<void>;
}

export interface ResultIntakeParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly partitions: Pick<ResultPartitions, 'judgeSlot' | 'ensure'>;
  readonly checkRuns: FinishedRuns;
  readonly agentClocks: AgentClocks;
  readonly scrubbing: Pick<SecretScrubbing, 'results'>;
  readonly storage: Pick<ResultStorage, 'watch'>;
  /** Handlers of new FINALs, called in order after the status of their checks was updated. */
  readonly followers?: readonly FinalsHandler[];
  /** Time limit for the missed records of a batch; records beyond it are not answered. */
  readonly missedBudgetMs?: number;
}

export interface ResultIntake {
  /**
   * Stores a batch. Batches may arrive in any order, concurrently and repeatedly: the stored results are the
   * same; only statuses and alerts ignore results that are too late. A failure does not undo what is already
   * stored: the agent resends a batch that was answered with an error.
   *
   * The agent also resends a missed record that is neither accepted nor rejected because the records before it
   * took too long.
   *
   * @throws ServiceError 401 where the caller's location is gone; StoreError
   */
  take(caller: AgentCaller, message: ResultsMessage): Promise<ResultsResponse>;
}

/** Bounds how long a transaction locks checks, and blocks the thread of the embedded database. */
const RESULTS_PER_TRANSACTION = 250;
/** Each slot is looked up among the results. */
const SLOTS_PER_TRANSACTION = 2_000;
/** Time limit: agents time out if the response takes much longer. */
const MISSED_BUDGET_MS = 5_000;

export function createResultIntake(parts: ResultIntakeParts): ResultIntake {
  const { store, clock, log, partitions, checkRuns, scrubbing, storage, agentClocks } = parts;
  const { missedBudgetMs = MISSED_BUDGET_MS, followers = [] } = parts;

  /** `finalsInTime` by the agent's clock, if that is known to be behind. */
  async function currentIn(
    tx: Sql,
    finals: readonly ReceivedResult[],
    subjects: ReadonlyMap<string, Pick<ResultSubject, 'frequency'>>,
    {
      atMs,
      sender,
      agentId,
    }: { readonly atMs: number; readonly sender: ResultSender; readonly agentId: string },
  ): Promise<ReadonlySet<ReceivedResult>> {
    const frequencyOf = (checkId: string): number => subjects.get(checkId)?.frequency ?? 0;
    const current = finalsInTime(finals, { atMs, frequencyOf });
    if (current.size === finals.length) return current;
    const behindMs = await agentClocks.behindMs(tx, sender, agentId);
    return behindMs === 0 ? current : finalsInTime(finals, { atMs: atMs - behindMs, frequencyOf });
  }

  /** Call it after the checks are locked: a run that is cancelled later already has its result. */
  async function cancelledAmong(
    tx: Sql,
    accountId: string,
    admitted: readonly ReceivedResultRecord[],
  ): Promise<CancelledRuns> {
    const finals = admitted.filter(({ record }) => record.resultType === 'FINAL');
    if (finals.length === 0) return new Set();
    const runs = finals.map(({ record }) => record);
    return new Set((await checkRuns.cancelled(tx, accountId, runs)).map(runNameOf));
  }

  function saveResults(
    sender: ResultSender,
    records: readonly ReceivedResultRecord[],
    agentId: string,
  ): Promise<readonly Rejection[]> {
    const { accountId, slug: location } = sender;
    return store.transaction(async (tx) => {
      const yieldWhenDue = createYielder(clock);
      const { admitted, rejected, subjects, secrets } = await admitResults(tx, sender, records);
      const cancelled = await cancelledAmong(tx, accountId, admitted);
      const received = admitted.map(({ record }) => asCancelled(record, cancelled));
      // Secrets are masked first: error groups, analyses and notifications quote results.
      const results = await scrubbing.results(tx, accountId, received, secrets);
      const stored = await storeResults(tx, accountId, results, yieldWhenDue);
      // Includes runs whose FINAL was stored before: they may have been requested since. Comes before
      // the missed slots are read: it waits for a transaction that records such a run as missed.
      const finals = results.filter(({ resultType }) => resultType === 'FINAL');
      if (finals.length > 0) await checkRuns.finished(tx, accountId, finals);
      if (stored.length > 0) {
        const atMs = clock.wallMs();
        const current = await currentIn(tx, stored, subjects, { atMs, sender, agentId });
        const batch = { accountId, location, finals: stored, current, atMs };
        for (const follow of [settleFinals(yieldWhenDue), ...followers]) await follow(tx, batch);
      }
      return rejected;
    });
  }

  function saveMissed(
    sender: ResultSender,
    records: readonly ReceivedMissed[],
    pauses: CompiledPauses | null,
  ): Promise<readonly Rejection[]> {
    const { accountId, slug: location } = sender;
    return store.transaction(async (tx) => {
      const { admitted, rejected } = await admitMissed(tx, sender, records);
      const yieldWhenDue = createYielder(clock);
      const reported = admitted.flatMap(({ received, ranges }) => {
        const { checkId, reason } = received.record;
        return ranges.flatMap(inPieces).map((range) => ({ ...range, checkId, reason }));
      });
      const ranges = await withoutPaused(tx, { accountId, ranges: reported, pauses }, yieldWhenDue);
      await recordMissed(tx, { accountId, location, ranges }, yieldWhenDue);
      return rejected;
    });
  }

  /** Reads the pauses for the missed records of a batch; null if the account has none. */
  async function pausesFor({ accountId }: ResultSender): Promise<CompiledPauses | null> {
    const pauses = await pausesOf(store, { accountId, atMs: clock.wallMs() });
    return pauses.length === 0 ? null : compilePauses(pauses);
  }

  async function senderOf(caller: AgentCaller): Promise<ResultSender> {
    const { accountId, locationId: id } = caller;
    const location = await findPrivateLocation(store, { accountId, id });
    if (location === null) throw badToken();
    return { ...caller, slug: location.slug };
  }

  return {
    async take(caller, message) {
      const sender = await senderOf(caller);
      const batch = await readBatch(message, createYielder(clock));
      const accepted: string[] = [];
      const rejected = [...batch.rejected];
      const deferred: Deferral[] = [];
      const nowMs = clock.wallMs();
      const settle = (records: readonly ReceivedRecord[], refused: readonly Rejection[]): void => {
        const out = new Set(refused.map(({ index }) => index));
        for (const { index, record } of records) if (!out.has(index)) accepted.push(record.id);
        rejected.push(...refused);
      };
      const validOf = <T extends ReceivedRecord>(records: readonly T[]): readonly T[] =>
        records.flatMap((each) => {
          const decision = admitRecord(each, sender, { partitions, nowMs });
          if (decision.kind === 'valid') return [decision.value];
          if (decision.kind === 'rejected') rejected.push(decision.rejection);
          else deferred.push(decision.deferral);
          return [];
        });

      const results = validOf<ReceivedResultRecord>(
        batch.results.map((record, at) => {
          return { list: 'results', index: batch.indexes.results[at] ?? at, record };
        }),
      );
      await storage.watch(partitions.ensure(results.map(({ record }) => record.checkRunId)));
      for (let from = 0; from < results.length; from += RESULTS_PER_TRANSACTION) {
        const records = results.slice(from, from + RESULTS_PER_TRANSACTION);
        settle(records, await storage.watch(saveResults(sender, records, batch.agentId)));
      }

      const missed = validOf<ReceivedMissed>(
        batch.missed.map((record, at) => {
          return { list: 'missed', index: batch.indexes.missed[at] ?? at, record };
        }),
      );
      const pauses = missed.length === 0 ? null : await pausesFor(sender);
      const endMs = clock.monotonicMs() + missedBudgetMs;
      for (let from = 0; from < missed.length; ) {
        const records = fittingTransaction(missed, from);
        settle(records, await storage.watch(saveMissed(sender, records, pauses)));
        from += records.length;
        if (clock.monotonicMs() >= endMs) break;
      }

      if (rejected.length > 0) {
        const { slug: location } = sender;
        const counts = countsOf(rejected);
        log.debug({ location, agentId: batch.agentId, counts }, 'rejected records of an agent');
      }
      if (deferred.length > 0) await agentClocks.deferred(sender, batch.agentId, deferred);
      return { accepted, rejected, deferred };
    },
  };
}

/** At most some milliseconds of work. */
const SLOTS_PER_PIECE = 20_000;

function inPieces(range: SlotRange): readonly SlotRange[] {
  return range.count <= SLOTS_PER_PIECE ? [range] : [...splitByDay(range)];
}

/** The next records with at most SLOTS_PER_TRANSACTION slots in total; at least one. */
function fittingTransaction(
  records: readonly ReceivedMissed[],
  from: number,
): readonly ReceivedMissed[] {
  let slots = 0;
  let to = from;
  while (to < records.length) {
    slots += records[to]?.record.count ?? 0;
    if (to > from && slots > SLOTS_PER_TRANSACTION) break;
    to += 1;
  }
  return records.slice(from, to);
}

function countsOf(rejected: readonly Rejection[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { code } of rejected) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}
