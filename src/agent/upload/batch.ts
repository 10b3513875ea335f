import { MAX_BATCH_BYTES, MAX_MISSED, MAX_RESULTS } from '../../wire/v1/limits.ts';
import type { ResultsResponse } from '../../wire/v1/results.ts';
import type { SpooledRecord } from '../spool/spool.ts';

/**
 * Maximum bytes of the records of one batch; a larger record is sent alone. A quarter of the limit
 * of a request: larger batches are not faster, and each is in memory three times.
 */
export const BATCH_BYTES = MAX_BATCH_BYTES / 4;

/** Records that go together, in the order of the spool. */
export interface Batch {
  readonly records: readonly SpooledRecord[];
  readonly json: Buffer;
}

/** Reuses one buffer for all batches: buffers of that size are collected late. */
export class BatchMemory {
  #bytes = Buffer.alloc(0);

  /** A buffer of this many bytes, which overwrites that of the call before. */
  take(bytes: number): Buffer {
    if (this.#bytes.length < bytes) this.#bytes = Buffer.allocUnsafeSlow(bytes);
    return this.#bytes.subarray(0, bytes);
  }
}

/**
 * Makes a batch of as many of the first records as fit into one request. Joins their JSON without
 * parsing it.
 *
 * @param records no artifact notes
 * @param memory contains the batch's JSON until the next call
 */
export function batchOf(
  records: readonly SpooledRecord[],
  maxRecords: number,
  sender: { readonly agentId: string; readonly epoch: number },
  memory: BatchMemory = new BatchMemory(),
): Batch {
  const lists: Record<'results' | 'missed', Uint8Array[]> = { results: [], missed: [] };
  const taken: SpooledRecord[] = [];
  for (const record of records.slice(0, maxRecords)) {
    const list = listOf(record);
    if (lists[list].length === (list === 'results' ? MAX_RESULTS : MAX_MISSED)) break;
    lists[list].push(record.body);
    taken.push(record);
  }
  const { agentId, epoch } = sender;
  const start = JSON.stringify({ agentId, epoch }).slice(0, -1);
  const pieces = [
    Buffer.from(`${start},"results":[`),
    ...joined(lists.results),
    Buffer.from('],"missed":['),
    ...joined(lists.missed),
    Buffer.from(']}'),
  ];
  const json = memory.take(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    json.set(piece, at);
    at += piece.length;
  }
  return { records: taken, json };
}

export interface Rejected {
  readonly record: SpooledRecord;
  readonly code: string;
  readonly message: string;
}

export interface Deferred {
  readonly record: SpooledRecord;
  /** Milliseconds by which the record is ahead of the service's clock. */
  readonly aheadMs: number;
}

export interface SettledBatch {
  readonly accepted: readonly SpooledRecord[];
  readonly rejected: readonly Rejected[];
  /** Ahead of the service's clock: sent again when their time comes. */
  readonly deferred: readonly Deferred[];
  /** Records that the answer does not mention. */
  readonly open: readonly SpooledRecord[];
}

/** Sorts the records by the service's answer. */
export function settleBatch(
  records: readonly SpooledRecord[],
  answer: ResultsResponse,
): SettledBatch {
  const acceptedIds = new Set(answer.accepted);
  const rejections = new Map(
    answer.rejected.map((rejection) => [`${rejection.list} ${rejection.index}`, rejection]),
  );
  const aheadMs = new Map(answer.deferred.map((one) => [`${one.list} ${one.index}`, one.aheadMs]));
  const next = { results: 0, missed: 0 };
  const deferred: Deferred[] = [];
  const accepted: SpooledRecord[] = [];
  const rejected: Rejected[] = [];
  const open: SpooledRecord[] = [];
  for (const record of records) {
    const list = listOf(record);
    const position = `${list} ${next[list]}`;
    const rejection = rejections.get(position);
    const ahead = aheadMs.get(position);
    next[list] += 1;
    if (rejection !== undefined) {
      rejected.push({ record, code: rejection.code, message: rejection.message });
    } else if (ahead !== undefined) deferred.push({ record, aheadMs: ahead });
    else if (acceptedIds.has(record.id)) accepted.push(record);
    else open.push(record);
  }
  return { accepted, rejected, deferred, open };
}

function listOf({ kind }: SpooledRecord): 'results' | 'missed' {
  return kind === 'missed' ? 'missed' : 'results';
}

const COMMA = Buffer.from(',');

function joined(bodies: readonly Uint8Array[]): Uint8Array[] {
  return bodies.flatMap((body, index) => (index === 0 ? [body] : [COMMA, body]));
}
