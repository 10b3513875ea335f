import { messageOf } from '../../runtime/errors.ts';
import { packJson } from '../service-client/service-client.ts';
import { type ServiceResponse, serviceFailure } from '../service-client/service-failure.ts';
import type { Spool, SpooledRecord } from '../spool/spool.ts';
import { BATCH_BYTES, BatchMemory, batchOf } from './batch.ts';

/** The records read from the spool for one request, and the request's body. */
export interface PackedBatch {
  /** The key after which the spool was read. */
  readonly after: number;
  /** Epoch of the lease that the request names. */
  readonly epoch: number;
  /** All records after that, including artifacts' notes. */
  readonly read: readonly SpooledRecord[];
  /** The same without notes; the request contains the first `sent` of them. */
  readonly records: readonly SpooledRecord[];
  readonly sent: number;
  /** JSON in gzip. */
  readonly body: Buffer;
}

export interface PackedBatchesOptions {
  readonly spool: Spool;
  readonly agentId: string;
  /** Epoch of the agent's current lease. */
  readonly epoch: () => number;
}

interface Ahead {
  readonly after: number;
  readonly packed: Promise<ServiceResponse<PackedBatch>>;
}

/**
 * Makes the bodies of requests from the spool, one at a time. The next can be made while one is
 * being sent: reading and packing take about as long as a service takes for a batch.
 */
export class PackedBatches {
  readonly #options: PackedBatchesOptions;
  readonly #memory = new BatchMemory();
  #ahead: Ahead | null = null;

  constructor(options: PackedBatchesOptions) {
    this.#options = options;
  }

  /**
   * The next batch of at most this many records after that key; they stay in the spool. A disk that
   * cannot be read for now is a failure like a service that cannot be reached.
   */
  async next(after: number, maxRecords: number): Promise<ServiceResponse<PackedBatch>> {
    const ahead = this.#ahead;
    const ready = await this.end();
    const isIt =
      ready?.ok === true &&
      ahead?.after === after &&
      ready.value.epoch === this.#options.epoch() &&
      ready.value.sent > 0 &&
      ready.value.sent <= maxRecords;
    return isIt ? ready : this.#pack(after, maxRecords);
  }

  /**
   * Begins to make the batch after this one, if the spool can fill it. `next` returns it only if it
   * is the one that is asked for.
   */
  makeAfter({ read, records, sent }: PackedBatch, maxRecords: number): void {
    const last = read.at(-1);
    const isMore = this.#options.spool.depth.bytes >= 2 * BATCH_BYTES;
    if (this.#ahead !== null || last === undefined || sent < records.length || !isMore) return;
    this.#ahead = { after: last.key, packed: this.#pack(last.key, maxRecords) };
  }

  /** Resolves with the batch that was being made, or null. */
  async end(): Promise<ServiceResponse<PackedBatch> | null> {
    const ahead = this.#ahead;
    this.#ahead = null;
    return (await ahead?.packed) ?? null;
  }

  async #pack(after: number, maxRecords: number): Promise<ServiceResponse<PackedBatch>> {
    const { spool, agentId, epoch: epochNow } = this.#options;
    try {
      const read = await spool.batch(BATCH_BYTES, after);
      const records = read.filter(({ kind }) => kind !== 'artifact-note');
      const epoch = epochNow();
      const batch = batchOf(records, maxRecords, { agentId, epoch }, this.#memory);
      const sent = batch.records.length;
      const body = sent === 0 ? NOTHING : await packJson(batch.json);
      return { ok: true, value: { after, epoch, read, records, sent, body } };
    } catch (error) {
      return { ok: false, failure: serviceFailure('failed', messageOf(error)) };
    }
  }
}

const NOTHING = Buffer.alloc(0);
