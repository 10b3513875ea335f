import type { ReceivedResult } from '../../../wire/v1/check-result.ts';
import {
  type MissedRecord,
  REJECTION_CODES,
  type Rejection,
  type RejectionCode,
} from '../../../wire/v1/results.ts';
import type { ResultPartitions } from '../../store/partitions.ts';
import type { Sql } from '../../store/port.ts';
import { lockSubjects, runsGivenTo, type Subject } from '../../store/result-subjects.ts';
import type { AgentCaller } from '../location-keys.ts';
import type { SecretsState } from '../secret-scrubbing.ts';
import { fromFirst, isEven } from './slot-ranges.ts';

/** Records with their places in the lists that they were sent in. */
export interface ReceivedResultRecord {
  readonly list: 'results';
  readonly index: number;
  readonly record: ReceivedResult;
}
export interface ReceivedMissed {
  readonly list: 'missed';
  readonly index: number;
  readonly record: MissedRecord;
}
export type ReceivedRecord = ReceivedResultRecord | ReceivedMissed;

/** Who sends, and the slug of where from. */
export interface Sender extends AgentCaller {
  readonly slug: string;
}

export type Judged<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly rejection: Rejection };

/** What can be told of a record by itself. A missed range loses the slots that are too old. */
export function judgeRecord<T extends ReceivedRecord>(
  received: T,
  { slug }: Pick<Sender, 'slug'>,
  partitions: Pick<ResultPartitions, 'judgeSlot'>,
): Judged<T> {
  const refuse = (code: RejectionCode, message?: string): Judged<T> => {
    return { ok: false, rejection: rejectionOf(received, code, message) };
  };
  if (received.list === 'results') {
    const { record } = received;
    const wrong = TIMES.find((field) => !isStorableTime(record[field]));
    if (wrong !== undefined) return refuse('invalid', `${wrong}: must be a time from 1970 on`);
    if (record.runLocation !== slug) {
      return refuse('foreign_location', `runLocation: the location of the key is ${slug}`);
    }
    const verdict = partitions.judgeSlot(record.checkRunId);
    return verdict === 'kept' ? { ok: true, value: received } : refuse(SLOT_CODES[verdict]);
  }
  const { record } = received;
  if (!isEven(record)) {
    return refuse('invalid', 'count: the slots must be whole milliseconds apart, and a second');
  }
  if (partitions.judgeSlot(record.lastSlot) === 'too-far-ahead') return refuse('in_future');
  const kept = fromFirst(record, (slotMs) => partitions.judgeSlot(slotMs) !== 'too-old');
  if (kept === null) return refuse('too_old');
  return { ok: true, value: { ...received, record: { ...record, ...kept } } };
}

const TIMES = ['startedAt', 'stoppedAt', 'created_at'] as const;
const SLOT_CODES = { 'too-old': 'too_old', 'too-far-ahead': 'in_future' } as const;

/** The schema lets years pass that the database has not. */
function isStorableTime(iso: string): boolean {
  return Date.parse(iso) >= 0;
}

function rejectionOf(
  { list, index, record }: ReceivedRecord,
  code: RejectionCode,
  message: string = REJECTION_CODES[code],
): Rejection {
  return { id: record.id, list, index, code, message };
}

export interface Admission<T> {
  readonly admitted: readonly T[];
  readonly rejected: readonly Rejection[];
  /** Of the account and of those checks. */
  readonly secrets: SecretsState;
}

/**
 * Which records are of checks that the account has and that the location was to run, as far as
 * anybody knows: where a check or its group changed after the run began, it may have named the
 * location before. Those checks are held until the transaction ends: see `lockSubjects`.
 */
export async function admit<T extends ReceivedRecord>(
  tx: Sql,
  sender: Sender,
  records: readonly T[],
): Promise<Admission<T>> {
  const { accountId, slug } = sender;
  const checkIds = [...new Set(records.map(({ record }) => record.checkId))];
  const held = await lockSubjects(tx, { accountId, checkIds, slug });
  const subjects = new Map(held.map((subject) => [subject.checkId, subject]));
  const doubtful = records.filter((received) => {
    const subject = subjects.get(received.record.checkId);
    if (subject === undefined || subject.namesLocation) return false;
    return subject.changedAtMs <= beginOf(received);
  });
  const foreign = await neverGiven(tx, sender, doubtful);
  const admitted: T[] = [];
  const rejected: Rejection[] = [];
  for (const received of records) {
    if (!subjects.has(received.record.checkId)) {
      rejected.push(rejectionOf(received, 'unknown_check'));
    } else if (foreign.has(received)) rejected.push(rejectionOf(received, 'foreign_location'));
    else admitted.push(received);
  }
  return { admitted, rejected, secrets: secretsStateOf(held) };
}

function secretsStateOf(subjects: readonly Subject[]): SecretsState {
  const own = subjects.flatMap(({ checkId, ownSecrets }) =>
    ownSecrets === null ? [] : [[checkId, ownSecrets] as const],
  );
  return { revision: subjects[0]?.secretsRevision ?? 0, ownSecrets: new Map(own) };
}

function beginOf(received: ReceivedRecord): number {
  const { list, record } = received;
  return list === 'results' ? Date.parse(record.startedAt) : record.slot;
}

async function neverGiven(
  tx: Sql,
  { accountId, locationId }: Sender,
  records: readonly ReceivedRecord[],
): Promise<ReadonlySet<ReceivedRecord>> {
  if (records.length === 0) return new Set();
  const given = await runsGivenTo(tx, {
    accountId,
    locationId,
    runs: records.map(({ list, record }) => ({
      checkId: record.checkId,
      sequenceId: list === 'results' ? record.sequenceId : null,
    })),
  });
  return new Set(records.filter((_, number) => !given.has(number)));
}
