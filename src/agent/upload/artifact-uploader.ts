import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { ThrottledLog } from '../../runtime/throttled-log.ts';
import type { ArtifactBegin } from '../../wire/v1/artifacts.ts';
import { artifactBeginSchema } from '../../wire/v1/artifacts.ts';
import type { Spool, SpooledRecord } from '../spool/spool.ts';
import type { ArtifactContents } from './artifact-outbox.ts';
import { uploadArtifact } from './artifact-upload.ts';
import { REACTIONS, type RetryPolicy } from './retry-policy.ts';
import type { ServiceClient } from './service-client.ts';
import { faultOf, type ServiceFault } from './service-fault.ts';

export interface ArtifactUploaderOptions {
  readonly spool: Spool;
  readonly outbox: ArtifactContents;
  readonly client: Pick<ServiceClient, 'post' | 'put'>;
  readonly log: Logger;
  readonly retries: RetryPolicy;
  /** Told of parts that may not go where the service wants them. */
  readonly deniedLog: ThrottledLog;
  readonly onUploaded: (count: number) => void;
  /** The service will never take them. */
  readonly onRejected: (count: number) => void;
}

/** An artifact that came apart so often will not come together: its bytes are not what was noted. */
const MAX_ROUNDS = 5;

interface Waiting {
  readonly record: SpooledRecord;
  /** Uploads that ended with the service missing something, or not knowing the upload any more. */
  rounds: number;
}

/** Sends artifacts, one after the other, as their notes come out of the spool. */
export class ArtifactUploader {
  readonly #options: ArtifactUploaderOptions;
  /** By the key in the spool; the first is the next. */
  readonly #waiting = new Map<number, Waiting>();
  #wake = (): void => {};

  constructor(options: ArtifactUploaderOptions) {
    this.#options = options;
  }

  /** Takes a note to be sent. It stays in the spool until it is; one that waits already is ignored. */
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
        const fault = await this.#sendNext(signal);
        if (fault === null) {
          if (this.#waiting.size === 0) await this.#arrival(signal);
          continue;
        }
        if (fault.kind === 'stopped') return;
        await this.#options.retries.wait(fault, signal);
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Sends what waits, until nothing does, the signal aborts, or only people can help. */
  async flush(signal: AbortSignal): Promise<void> {
    this.#options.retries.restart();
    while (!signal.aborted && this.#waiting.size > 0) {
      const fault = await this.#sendNext(signal);
      if (fault === null) continue;
      if (!REACTIONS[fault.kind].healsByItself) return;
      await this.#options.retries.wait(fault, signal);
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

  /** What keeps the next one from being sent; null where it was, or is out of the way. */
  async #sendNext(signal: AbortSignal): Promise<ServiceFault | null> {
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
          return await this.#refused(next, ended.fault.message);
        case 'again':
          return await this.#again(next, ended.fault);
        case 'fault':
          // A line that is cut again and again still gets there, if part by part.
          if (ended.partsSent > 0) retries.restart();
          // Another may get through: a store that fails does so for one object, sometimes.
          this.#toTheEnd(next);
          return ended.fault;
      }
    } catch (error) {
      // The disk cannot be read for now.
      this.#toTheEnd(next);
      return faultOf('failed', messageOf(error));
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

  async #again(waiting: Waiting, fault: ServiceFault): Promise<ServiceFault | null> {
    waiting.rounds += 1;
    if (waiting.rounds >= MAX_ROUNDS) return this.#refused(waiting, fault.message);
    this.#toTheEnd(waiting);
    return fault;
  }

  async #refused({ record }: Waiting, problem: string): Promise<null> {
    const { spool, outbox, log, onRejected } = this.#options;
    log.warn({ id: record.id, problem }, 'the service refuses an artifact for good: it is dropped');
    onRejected(1);
    this.#waiting.delete(record.key);
    await spool.accepted([record.key]);
    await outbox.remove(record.id);
    return null;
  }

  /** Its file was given up for room, or is not what was written. */
  async #lose({ record }: Waiting): Promise<null> {
    const { spool, outbox } = this.#options;
    this.#waiting.delete(record.key);
    // One that was given up has been counted already, with its note.
    spool.discard('artifact-note', record.id, 'damage');
    await outbox.remove(record.id);
    return null;
  }

  #toTheEnd(waiting: Waiting): void {
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
