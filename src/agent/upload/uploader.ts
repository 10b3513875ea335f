import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { ThrottledLog } from '../../runtime/throttled-log.ts';
import { sleep } from '../../runtime/wait.ts';
import { PATHS } from '../../wire/v1/limits.ts';
import { type ResultsResponse, resultsResponseSchema } from '../../wire/v1/results.ts';
import { packJson, type ServiceClient } from '../service-client/service-client.ts';
import {
  type ServiceFailure,
  type ServiceResponse,
  serviceFailure,
} from '../service-client/service-failure.ts';
import type { Spool, SpooledRecord, SpoolKind } from '../spool/spool.ts';
import type { ArtifactContents } from './artifact-outbox.ts';
import { ArtifactUploader } from './artifact-uploader.ts';
import { BATCH_BYTES, batchOf, type Rejected, settleBatch } from './batch.ts';
import { BatchSize } from './batch-size.ts';
import { FailingRecords } from './failing-records.ts';
import { PackedBatches } from './packed-batches.ts';
import { RecordsAheadOfClock } from './records-ahead-of-clock.ts';
import { REACTIONS, RetryPolicy } from './retry-policy.ts';

export interface UploaderOptions {
  readonly spool: Spool;
  readonly outbox: ArtifactContents;
  readonly client: Pick<ServiceClient, 'post' | 'put' | 'key'>;
  readonly agentId: string;
  /** Epoch of the agent's current lease. */
  readonly epoch: () => number;
  readonly clock: Clock;
  readonly log: Logger;
  /** Records that the service has accepted. */
  readonly onUploaded: (count: number) => void;
  /** Records that the service permanently rejected. */
  readonly onRejected: (kind: SpoolKind, count: number) => void;
  /**
   * Unsent records wait on disk for the next process: `flush` does not wait for an absent service.
   */
  readonly outlivesProcess?: boolean;
  /** How long a few results wait for others to be sent with them, milliseconds. Default: 500. */
  readonly lingerMs?: number;
  /** From 0 to under 1, for jitter. */
  readonly random?: () => number;
}

/** A single record of 4 MiB takes this long at 15 KB/s, packed. */
const TIMEOUT_MS = 60_000;

/** Batches whose removal is not on disk yet: after a crash they are sent again. */
const MAX_REMOVING = 16;

/** `sent`: there may be more. `empty`: everything that can be sent was sent. */
type Step = 'sent' | 'empty' | ServiceFailure;

/**
 * Sends the spool's records to the service, oldest first and one batch at a time, until each is
 * accepted or permanently rejected. While a batch is being sent, prepares the next one and removes
 * the previous one from the disk. Sends artifacts in parallel, so that a long one delays no
 * results.
 */
export class Uploader {
  readonly #options: UploaderOptions;
  readonly #artifacts: ArtifactUploader;
  readonly #retries: RetryPolicy;
  readonly #rejectionLog: ThrottledLog;
  readonly #size = new BatchSize();
  readonly #failing = new FailingRecords();
  readonly #deferred: RecordsAheadOfClock;
  readonly #batches: PackedBatches;
  /** Removals from the spool that are not on disk yet, oldest first. */
  readonly #removing: Promise<void>[] = [];
  /** All up to this key is sent, except artifacts' notes and skipped records. */
  #after = -1;

  constructor(options: UploaderOptions) {
    const { clock, log, client, random = Math.random } = options;
    const retry = { clock, log, client, random };
    this.#options = options;
    this.#batches = new PackedBatches(options);
    this.#retries = new RetryPolicy({ ...retry, what: 'results' });
    this.#rejectionLog = new ThrottledLog(clock, log);
    this.#deferred = new RecordsAheadOfClock(clock, log);
    this.#artifacts = new ArtifactUploader({
      spool: options.spool,
      outbox: options.outbox,
      client,
      log,
      retries: new RetryPolicy({ ...retry, what: 'artifacts' }),
      deniedLog: new ThrottledLog(clock, log),
      onUploaded: options.onUploaded,
      onRejected: (count) => options.onRejected('artifact-note', count),
    });
  }

  /** Sends all records, until the signal aborts or the spool is closed. */
  async run(signal: AbortSignal): Promise<void> {
    const ended = new AbortController();
    const both = AbortSignal.any([signal, ended.signal]);
    const artifacts = this.#artifacts.run(both);
    try {
      while (await this.#isThereMore(signal)) {
        await this.#linger(signal);
        const step = await this.#step(signal);
        if (typeof step === 'string') continue;
        // The client was closed.
        if (step.kind === 'stopped') break;
        await this.#retries.wait(step, signal);
      }
      await this.#waitForRemovals(0);
    } finally {
      ended.abort();
      await artifacts;
      await this.#batches.end();
    }
  }

  /**
   * Call it in the drain, when `run` has ended and the spool has committed all records: sends them
   * and the artifacts. Stops early when the signal aborts, when an operator must solve the problem
   * (a key, an upgrade), or when the service does not answer and the rest is on disk for the next
   * process.
   */
  async flush(signal: AbortSignal): Promise<void> {
    this.#retries.restart();
    if (await this.#flushResults(signal)) await this.#artifacts.flush(signal);
    await this.#batches.end();
    await this.#waitForRemovals(0);
  }

  /** False if sending artifacts would fail too. */
  async #flushResults(signal: AbortSignal): Promise<boolean> {
    let failures = 0;
    while (!signal.aborted) {
      const step = await this.#step(signal);
      if (step === 'empty') break;
      if (step === 'sent') {
        failures = 0;
        continue;
      }
      const { act, healsByItself } = REACTIONS[step.kind];
      if (!healsByItself) return false;
      failures += 1;
      // The first may be an idle connection that had just ended.
      if (this.#options.outlivesProcess === true && act === 'back-off' && failures > 1)
        return false;
      await this.#retries.wait(step, signal);
    }
    return true;
  }

  /** Resolves true when there are records to send, new or deferred; false at the end. */
  async #isThereMore(signal: AbortSignal): Promise<boolean> {
    const { spool, clock } = this.#options;
    const { dueInMs } = this.#deferred;
    if (dueInMs === null) return spool.available(signal, this.#after);
    const due = new AbortController();
    const cancel = clock.after(dueInMs, () => due.abort());
    try {
      const both = AbortSignal.any([signal, due.signal]);
      return (await spool.available(both, this.#after)) || (due.signal.aborted && !signal.aborted);
    } finally {
      cancel();
    }
  }

  /** Waits for more records: a request costs about the same with one result or with hundreds. */
  async #linger(signal: AbortSignal): Promise<void> {
    const { spool, clock, lingerMs = 500 } = this.#options;
    const isLong = this.#deferred.dueInMs === null && spool.depth.bytes >= BATCH_BYTES / 4;
    if (lingerMs > 0 && !isLong) await sleep(clock, lingerMs, signal);
  }

  async #step(signal: AbortSignal): Promise<Step> {
    if (signal.aborted) return 'empty';
    const { clock } = this.#options;
    this.#after = this.#deferred.cursor(this.#after);
    const failedBefore = this.#failing.takeDue(this.#after, clock.monotonicMs());
    if (failedBefore !== null) {
      this.#after = failedBefore - 1;
      this.#size.sendOne();
    }
    const next = await this.#batches.next(this.#after, this.#size.maxRecords);
    if (!next.ok) return next.failure;
    const { read, records, sent: count, body } = next.value;
    const sent = records.slice(0, count);
    let left = records.slice(count);
    let wasTaken = false;
    if (count > 0) {
      this.#batches.makeAfter(next.value, this.#size.maxRecords);
      const answer = await this.#post(body, signal);
      if (!answer.ok) return this.#onFailure(answer.failure, sent, signal);
      const { open, taken } = await this.#onAnswer(sent, answer.value);
      if (open.length === count) {
        return serviceFailure('failed', 'the service answered, but about none of the records');
      }
      left = [...open, ...left];
      wasTaken = taken > 0;
    }
    // Settled records have left the spool. Of the rest, only notes may be skipped.
    const [first] = left;
    const upTo = first === undefined ? read.at(-1)?.key : first.key - 1;
    if (upTo === undefined) return 'empty';
    for (const record of read) {
      if (record.kind === 'artifact-note' && record.key <= upTo) this.#artifacts.take(record);
    }
    this.#after = this.#deferred.next(upTo, wasTaken);
    return 'sent';
  }

  #post(packed: Buffer, signal: AbortSignal): Promise<ServiceResponse<ResultsResponse>> {
    return this.#options.client.post(PATHS.results, packed, {
      schema: resultsResponseSchema,
      timeoutMs: TIMEOUT_MS,
      signal,
      packed: true,
    });
  }

  /** Returns the records that are not in the answer, and how many left the spool. */
  async #onAnswer(
    sent: readonly SpooledRecord[],
    answer: ResultsResponse,
  ): Promise<{ readonly open: readonly SpooledRecord[]; readonly taken: number }> {
    const { accepted, rejected, deferred, open } = settleBatch(sent, answer);
    if (open.length === sent.length) return { open, taken: 0 };
    this.#retries.succeeded();
    this.#size.succeeded();
    this.#failing.settled(sent.map(({ key }) => key));
    if (accepted.length > 0) this.#options.onUploaded(accepted.length);
    this.#count(rejected);
    this.#deferred.add(deferred);
    const settled = [...accepted, ...rejected.map(({ record }) => record)];
    await this.#remove(settled.map(({ key }) => key));
    return { open, taken: settled.length };
  }

  async #onFailure(
    failure: ServiceFailure,
    sent: readonly SpooledRecord[],
    signal: AbortSignal,
  ): Promise<Step> {
    const [first] = sent;
    const isAgain = this.#retries.failures > 0;
    if (failure.kind === 'refused') {
      if (first === undefined || sent.length > 1) {
        this.#size.refused(sent.length);
        return 'sent';
      }
      return this.#refusedAlone(failure, first, signal);
    }
    if (failure.kind === 'offline' && isAgain) this.#size.offline(sent.length);
    if (failure.kind !== 'failed') return failure;
    if (first === undefined || sent.length > 1) {
      if (isAgain) this.#size.failed(sent.length);
      return failure;
    }
    const { clock, log } = this.#options;
    if (!this.#failing.failed(first.key, clock.monotonicMs())) return failure;
    log.warn({ kind: first.kind, id: first.id }, `a result is skipped for now: ${failure.message}`);
    this.#after = first.key;
    return 'sent';
  }

  /** If an empty batch is refused as well, the record is not the reason, and stays. */
  async #refusedAlone(
    failure: ServiceFailure,
    record: SpooledRecord,
    signal: AbortSignal,
  ): Promise<Step> {
    const { agentId, epoch } = this.#options;
    const empty = batchOf([], 0, { agentId, epoch: epoch() });
    const answer = await this.#post(await packJson(empty.json), signal);
    if (!answer.ok) return answer.failure;
    this.#size.foundRefused();
    this.#failing.settled([record.key]);
    this.#count([{ record, code: 'refused', message: failure.message }]);
    await this.#remove([record.key]);
    return 'sent';
  }

  /**
   * Removes records from the spool. No batch waits for the disk: after a crash they are sent again,
   * and the service recognizes them.
   */
  async #remove(keys: readonly number[]): Promise<void> {
    const removed = this.#options.spool.accepted(keys);
    // `#waitForRemovals` throws its error.
    removed.catch(() => {});
    this.#removing.push(removed);
    await this.#waitForRemovals(MAX_REMOVING);
  }

  /** Waits until at most this many removals are left. */
  async #waitForRemovals(left: number): Promise<void> {
    while (this.#removing.length > left) await this.#removing.shift();
  }

  #count(rejected: readonly Rejected[]): void {
    for (const { record, code, message } of rejected) {
      this.#rejectionLog.warn(
        code,
        { code, kind: record.kind, id: record.id, problem: message },
        'the service permanently rejected results; dropped them (vedette_rejected_total counts them)',
      );
      this.#options.onRejected(record.kind, 1);
    }
  }
}
