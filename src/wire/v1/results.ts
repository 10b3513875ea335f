import { z } from 'zod';
import { stableId } from '../../model/ids.ts';
import type { MissedSlots } from '../../model/result/missed-slots.ts';
import { type YieldWhenDue, yieldToEventLoop } from '../../runtime/event-loop.ts';
import { checkResultSchema, type ReceivedResult } from './check-result.ts';
import { boundedList, count, id, instant, openCode, text } from './fields.ts';
import { MAX_MISSED, MAX_RESULTS } from './limits.ts';
import { readRecord } from './read-record.ts';
import { problemOf } from './tolerant-parse.ts';

/** Consecutive slots that were not run. Reasons of a newer agent are accepted. */
export const missedRecordSchema = z
  .object({
    id,
    checkId: id,
    slot: instant,
    lastSlot: instant,
    count: z.int().min(1),
    reason: openCode,
  })
  .refine(
    ({ slot, lastSlot, count: slots }) => (slots === 1 ? slot === lastSlot : slot < lastSlot),
    {
      path: ['lastSlot'],
      message: 'must be slot where count is 1, and after it where it is more',
    },
  );
export type MissedRecord = z.output<typeof missedRecordSchema>;

/** The same slots, missed for the same reason at the same location, always have the same id. */
export function missedRecordOf(missed: MissedSlots, location: string): MissedRecord {
  const { checkId, slot, lastSlot, count: slots, reason } = missed;
  const ownId = stableId('missed', checkId, location, slot, lastSlot, reason);
  return { id: ownId, checkId, slot, lastSlot, count: slots, reason };
}

/** A batch before its records are parsed: an invalid one must not cost the agent the others. */
export const resultsEnvelope = z.object({
  agentId: id,
  epoch: count,
  results: z.array(z.unknown()).max(MAX_RESULTS),
  missed: z.array(z.unknown()).max(MAX_MISSED),
});
export type ResultsMessage = z.output<typeof resultsEnvelope>;

/**
 * Why a record is permanently rejected: the agent drops, logs and counts it. After an error answer to
 * the whole batch, it retains the batch.
 */
export const REJECTION_CODES = {
  invalid: 'The record is not of the form that this version of the protocol has.',
  unknown_check: 'The check does not exist, or not in the account of the location.',
  foreign_location: 'The run is not one that this location was given.',
  too_old: 'The slot is older than results are kept.',
} as const;
export type RejectionCode = keyof typeof REJECTION_CODES;

const rejection = z.object({
  /** null if it is invalid; `list` and `index` identify the record. */
  id: text(128).nullable(),
  list: z.enum(['results', 'missed']),
  index: z.int().min(0),
  /** Also codes that only a newer service knows; all of them are final. */
  code: openCode,
  message: text(1000),
});
export type Rejection = z.output<typeof rejection>;

/** A record in the future of the service's clock: the agent sends it again at that time. */
const deferral = z.object({
  id,
  list: z.enum(['results', 'missed']),
  index: z.int().min(0),
  /** Milliseconds, more than the minute that the service allows. */
  aheadMs: count,
});
export type Deferral = z.output<typeof deferral>;

export const resultsResponseSchema = z.object({
  /** Results and missed records that are stored, now or before, or not needed any more. */
  accepted: boundedList(id, MAX_RESULTS + MAX_MISSED),
  rejected: boundedList(rejection, MAX_RESULTS + MAX_MISSED),
  /** To be sent again later. Older agents treat them as unanswered, and do the same. */
  deferred: boundedList(deferral, MAX_RESULTS + MAX_MISSED).default([]),
});
export type ResultsResponse = z.output<typeof resultsResponseSchema>;

export interface ReadBatch {
  readonly agentId: string;
  readonly epoch: number;
  readonly results: readonly ReceivedResult[];
  readonly missed: readonly MissedRecord[];
  /** The index of each of them in the list that was sent. */
  readonly indexes: {
    readonly results: readonly number[];
    readonly missed: readonly number[];
  };
  readonly rejected: readonly Rejection[];
}

/**
 * Parses the records of a batch: sorts them into valid and rejected ones.
 *
 * @param yieldWhenDue called after each record: a hostile one takes some milliseconds
 */
export async function readBatch(
  { agentId, epoch, results, missed }: ResultsMessage,
  yieldWhenDue: YieldWhenDue = yieldToEventLoop,
): Promise<ReadBatch> {
  const rejected: Rejection[] = [];
  const read = { rejected, yieldWhenDue };
  const readResults = await readList('results', results, checkResultSchema, read);
  const readMissed = await readList('missed', missed, missedRecordSchema, read);
  return {
    agentId,
    epoch,
    results: readResults.taken,
    missed: readMissed.taken,
    indexes: { results: readResults.indexes, missed: readMissed.indexes },
    rejected,
  };
}

async function readList<T>(
  list: Rejection['list'],
  records: readonly unknown[],
  schema: z.ZodType<T>,
  {
    rejected,
    yieldWhenDue,
  }: { readonly rejected: Rejection[]; readonly yieldWhenDue: YieldWhenDue },
): Promise<{ readonly taken: readonly T[]; readonly indexes: readonly number[] }> {
  const taken: T[] = [];
  const indexes: number[] = [];
  for (const [index, record] of records.entries()) {
    const read = readRecord(schema, record);
    if (read.kind === 'good') {
      taken.push(read.value);
      indexes.push(index);
    } else {
      const message = problemOf(read);
      rejected.push({ id: readableId(record), list, index, code: 'invalid', message });
    }
    await yieldWhenDue();
  }
  return { taken, indexes };
}

function readableId(record: unknown): string | null {
  if (typeof record !== 'object' || record === null || !('id' in record)) return null;
  const parsed = id.safeParse(record.id);
  return parsed.success ? parsed.data : null;
}
