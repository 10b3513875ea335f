import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { ThrottledLog } from '../../runtime/throttled-log.ts';
import type { ArtifactBegin } from '../../wire/v1/artifacts.ts';
import { artifactBeginSchema } from '../../wire/v1/artifacts.ts';
import type { ServiceClient } from '../service-client/service-client.ts';
import { type ServiceFailure, serviceFailure } from '../service-client/service-failure.ts';
import type { Spool, SpooledRecord } from '../spool/spool.ts';
import type { ArtifactContents } from './artifact-outbox.ts';
import { REACTIONS, type RetryPolicy } from './retry-policy.ts';
import { uploadArtifact } from './upload-artifact.ts';

export interface ArtifactUploaderOptions {
  readonly spool: Spool;
  readonly outbox: ArtifactContents;
  readonly client: Pick<ServiceClient, 'post' | 'put'>;
  readonly log: Logger;
  readonly retries: RetryPolicy;
  /** Logs parts whose address the operator did not allow. */
  readonly deniedLog: ThrottledLog;
  readonly onUploaded: (count: number) => void;
  /** The service permanently rejected them. */
  readonly onRejected: (count: number) => void;
}

/** After this many incomplete uploads the artifact is dropped: its bytes differ from its note. */
const MAX_ROUNDS = 5;

const REJECTED = 'the service permanently rejected an artifact; dropped it';
const INCOMPLETE = `an artifact was not complete after ${MAX_ROUNDS} uploads; dropped it`;

interface Waiting {
  readonly record: SpooledRecord;
  /** The number of uploads of which the service lost parts, or that no longer existed. */
  rounds: number;
}

/** Sends artifacts one after the other, in the order of their notes in the spool. */
export class ArtifactUploader {
  readonly #options: ArtifactUploaderOptions;
  /** Waiting artifacts by key in the spool; the first is sent next. */
  readonly #waiting = new Map<number, Waiting>();
  #wake = (): void => {};

  constructor(options: ArtifactUploaderOptions) {
    this.#options = options;
  }

  /**
   * Takes the note of an artifact to send, which stays in the spool meanwhile. Ignores duplicates.
   */
  take(record: SpooledRecord): void {
    if (this.#waiting.has(record.key)) return;
    this.#waiting.set(record.key, { record, rounds: 0 });
    this.#wake();
  }

  async run(signal: AbortSignal): Promise<void> {
    const onAbort = (): void => this.#wake();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      while (!signal.aborted) {
        const failure = await this.#sendNext(signal);
        if (failure === null) {
          if (this.#waiting.size === 0) await this.#arrival(signal);
          continue;
        }
        if (failure.kind === 'stopped') return;
        await this.#options.retries.wait(failure, signal);
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Sends all waiting artifacts, until the signal aborts or a failure does not heal by itself. */
  async flush(signal: AbortSignal): Promise<void> {
    this.#options.retries.restart();
    while (!signal.aborted && this.#waiting.size > 0) {
      const failure = await this.#sendNext(signal);
      if (failure === null) continue;
      if (!REACTIONS[failure.kind].healsByItself) return;
      await this.#options.retries.wait(failure, signal);
    }
  }

  #arrival(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = () => {};
        resolve();
      };
      if (signal.aborted || this.#waiting.size > 0) this.#wake();
    });
  }

  /** Sends the next artifact or drops it. Returns the failure if neither was possible. */
  async #sendNext(signal: AbortSignal): Promise<ServiceFailure | null> {
    const [next] = this.#waiting.values();
    if (next === undefined) return null;
    const begin = readNote(next.record);
    if (begin === null) return this.#lose(next);
    const { client, outbox, retries, deniedLog } = this.#options;
    try {
      const { id } = next.record;
      if (!(await outbox.isWhole(id, begin.bytes))) return await this.#lose(next);
      const ended = await uploadArtifact(begin, {
        client,
        read: (from, bytes) => outbox.read(id, from, bytes),
        signal,
        onDenied: ({ code, origin, message }) => deniedLog.warn(origin, { code, origin }, message),
      });
      switch (ended.end) {
        case 'complete':
          retries.succeeded();
          return await this.#sent(next);
        case 'refused':
          return await this.#refused(next, ended.failure, REJECTED);
        case 'again':
          return await this.#again(next, ended.failure);
        case 'failure':
          // A bad line makes progress part by part.
          if (ended.partsSent > 0) retries.restart();
          // The next may succeed: a store may fail for one object only.
          this.#moveToEnd(next);
          return ended.failure;
      }
    } catch (error) {
      // The disk cannot be read for now.
      this.#moveToEnd(next);
      return serviceFailure('failed', messageOf(error));
    }
  }

  async #sent({ record }: Waiting): Promise<null> {
    const { spool, outbox, onUploaded } = this.#options;
    onUploaded(1);
    this.#waiting.delete(record.key);
    await spool.accepted([record.key]);
    await outbox.remove(record.id);
    return null;
  }

  async #again(waiting: Waiting, failure: ServiceFailure): Promise<ServiceFailure | null> {
    waiting.rounds += 1;
    if (waiting.rounds >= MAX_ROUNDS) return this.#refused(waiting, failure, INCOMPLETE);
    this.#moveToEnd(waiting);
    return failure;
  }

  async #refused(
    { record }: Waiting,
    { message: problem }: ServiceFailure,
    text: string,
  ): Promise<null> {
    const { spool, outbox, log, onRejected } = this.#options;
    log.warn({ id: record.id, problem }, text);
    onRejected(1);
    this.#waiting.delete(record.key);
    await spool.accepted([record.key]);
    await outbox.remove(record.id);
    return null;
  }

  /** The file was dropped for room, or is not what was written. */
  async #lose({ record }: Waiting): Promise<null> {
    const { spool, outbox } = this.#options;
    this.#waiting.delete(record.key);
    // The note of a dropped file has left already: it is not counted twice.
    spool.discard('artifact-note', record.id, 'damage');
    await outbox.remove(record.id);
    return null;
  }

  #moveToEnd(waiting: Waiting): void {
    const { key } = waiting.record;
    this.#waiting.delete(key);
    this.#waiting.set(key, waiting);
  }
}

function readNote({ body }: SpooledRecord): ArtifactBegin | null {
  try {
    const parsed = artifactBeginSchema.safeParse(JSON.parse(Buffer.from(body).toString('utf8')));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}
