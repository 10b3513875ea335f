import { sequenceIdOf } from '../../../model/ids.ts';
import type { SlotRange } from '../../../model/schedule/slot-range.ts';
import { groupBy } from '../../../runtime/group-by.ts';
import type { ReceivedResult } from '../../../wire/v1/check-result.ts';
import {
  type Deferral,
  type MissedRecord,
  REJECTION_CODES,
  type Rejection,
  type RejectionCode,
} from '../../../wire/v1/results.ts';
import type { Sql } from '../../database/store.ts';
import type { AgentCaller } from '../../private-locations/location-keys.ts';
import type { SecretsState } from '../../secrets/secret-scrubbing.ts';
import type { ResultPartitions } from '../partitions.sql.ts';
import { dropUntilFirst, isSchedulable } from '../slot-ranges.ts';
import { type AssignedSlots, listAssignedSlots } from './assigned-slots.sql.ts';
import { assignedPartsOf, isAssignedSlot } from './assigned-slots.ts';
import { attemptsGivenTo, lockSubjects, type ResultSubject } from './subjects.sql.ts';

/** Records with their indexes in the lists that they were sent in. */
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

/** The agent's caller with the slug of its location. */
export interface ResultSender extends AgentCaller {
  readonly slug: string;
}

export type RecordDecision<T> =
  | { readonly kind: 'valid'; readonly value: T }
  | { readonly kind: 'rejected'; readonly rejection: Rejection }
  /** The agent sends it again at its time. */
  | { readonly kind: 'deferred'; readonly deferral: Deferral };

/** Records may be this far ahead of the service's clock. */
const MAX_AHEAD_MS = 60_000;

/** Judges a record without the database. Removes slots that are too old from a missed range. */
export function admitRecord<T extends ReceivedRecord>(
  received: T,
  { slug }: Pick<ResultSender, 'slug'>,
  {
    partitions,
    nowMs,
  }: { readonly partitions: Pick<ResultPartitions, 'judgeSlot'>; readonly nowMs: number },
): RecordDecision<T> {
  const refuse = (code: RejectionCode, message?: string): RecordDecision<T> => {
    return { kind: 'rejected', rejection: rejectionOf(received, code, message) };
  };
  const aheadMs = latestOf(received) - nowMs;
  if (received.list === 'results') {
    const { record } = received;
    const wrong = TIMES.find((field) => !isStorableTime(record[field]));
    if (wrong !== undefined) return refuse('invalid', `${wrong}: must be a time from 1970 on`);
    if (record.runLocation !== slug) {
      return refuse('foreign_location', `runLocation: the location of the key is ${slug}`);
    }
    if (aheadMs > MAX_AHEAD_MS) return deferralOf(received, aheadMs);
    if (partitions.judgeSlot(record.checkRunId) === 'too-old') return refuse('too_old');
    return { kind: 'valid', value: received };
  }
  const { record } = received;
  if (!isSchedulable(record)) {
    return refuse('invalid', 'count: the slots must be whole milliseconds apart, and a second');
  }
  if (aheadMs > MAX_AHEAD_MS) return deferralOf(received, aheadMs);
  const kept = dropUntilFirst(record, (slotMs) => partitions.judgeSlot(slotMs) !== 'too-old');
  if (kept === null) return refuse('too_old');
  return { kind: 'valid', value: { ...received, record: { ...record, ...kept } } };
}

const TIMES = ['startedAt', 'stoppedAt', 'created_at'] as const;

/** The latest instant in the record: lists are sorted by its times, statuses by its slot. */
function latestOf({ list, record }: ReceivedRecord): number {
  if (list === 'missed') return record.lastSlot;
  return Math.max(record.checkRunId, ...TIMES.map((field) => Date.parse(record[field])));
}

/** The schema allows years that the database cannot store. */
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

function deferralOf({ list, index, record }: ReceivedRecord, aheadMs: number) {
  return { kind: 'deferred', deferral: { id: record.id, list, index, aheadMs } } as const;
}

export interface Admission<T> {
  readonly admitted: readonly T[];
  readonly rejected: readonly Rejection[];
}

export interface ResultAdmission extends Admission<ReceivedResultRecord> {
  /** By the ids of the checks that exist. */
  readonly subjects: ReadonlyMap<string, ResultSubject>;
  /** The secrets of the account and of those checks. */
  readonly secrets: SecretsState;
}

const FOREIGN_RUN =
  'sequenceId: the run is neither one of a slot of this location nor one that it was given';
const FOREIGN_SLOT = 'The check was not assigned to this location at this slot.';

/**
 * Admits results only for checks of the account and for runs of the location: slots that the location was
 * assigned by the rule at that time, and unscheduled runs that it was given. Does not trust the times and ids
 * that the sender reports: the ids must be derived from check, location and slot. Locks the checks until the
 * transaction ends: see `lockSubjects`.
 */
export async function admitResults(
  tx: Sql,
  sender: ResultSender,
  records: readonly ReceivedResultRecord[],
): Promise<ResultAdmission> {
  const { accountId, locationId, slug } = sender;
  const { subjects, assigned } = await lockAssigned(tx, sender, records);
  const isOwn = ({ record: { checkId, checkRunId, sequenceId } }: ReceivedResultRecord): boolean =>
    sequenceIdOf(checkId, slug, checkRunId) === sequenceId;
  const isScheduled = (received: ReceivedResultRecord): boolean => {
    const { checkId, checkRunId } = received.record;
    return isOwn(received) && isAssignedSlot(assigned.get(checkId) ?? [], checkRunId);
  };
  const known = records.filter(({ record }) => subjects.has(record.checkId));
  const unscheduled = known.filter((received) => !isScheduled(received));
  const given = await attemptsGivenTo(tx, {
    accountId,
    locationId,
    attempts: unscheduled.map(({ record }) => ({
      checkId: record.checkId,
      sequenceId: record.sequenceId,
      slotMs: record.checkRunId,
      retriesMade: record.attempts,
    })),
  });
  const foreign = new Set(unscheduled.filter((_, number) => !given.has(number)));
  const rejected = records.flatMap((received) => {
    if (!subjects.has(received.record.checkId)) return [rejectionOf(received, 'unknown_check')];
    if (!foreign.has(received)) return [];
    const message = isOwn(received) ? FOREIGN_SLOT : FOREIGN_RUN;
    return [rejectionOf(received, 'foreign_location', message)];
  });
  const admitted = known.filter((received) => !foreign.has(received));
  return { admitted, rejected, subjects, secrets: secretsStateOf([...subjects.values()]) };
}

/** Missed slots of a check that its location was assigned. */
export interface AdmittedMissed {
  readonly received: ReceivedMissed;
  readonly ranges: readonly SlotRange[];
}

/** `admitResults` for missed slots. Removes slots that the location was not assigned from a range. */
export async function admitMissed(
  tx: Sql,
  sender: ResultSender,
  records: readonly ReceivedMissed[],
): Promise<Admission<AdmittedMissed>> {
  const { subjects, assigned } = await lockAssigned(tx, sender, records);
  const admitted: AdmittedMissed[] = [];
  const rejected: Rejection[] = [];
  for (const received of records) {
    const { record } = received;
    const ranges = assignedPartsOf(record, assigned.get(record.checkId) ?? []);
    if (!subjects.has(record.checkId)) rejected.push(rejectionOf(received, 'unknown_check'));
    else if (ranges.length > 0) admitted.push({ received, ranges });
    else rejected.push(rejectionOf(received, 'foreign_location', FOREIGN_SLOT));
  }
  return { admitted, rejected };
}

async function lockAssigned(
  tx: Sql,
  { accountId, locationId }: ResultSender,
  records: readonly ReceivedRecord[],
): Promise<{
  readonly subjects: ReadonlyMap<string, ResultSubject>;
  readonly assigned: ReadonlyMap<string, readonly AssignedSlots[]>;
}> {
  const checkIds = [...new Set(records.map(({ record }) => record.checkId))];
  const locked = await lockSubjects(tx, { accountId, checkIds });
  const slots = await listAssignedSlots(tx, { locationId, checkIds });
  return {
    subjects: new Map(locked.map((subject) => [subject.checkId, subject])),
    assigned: groupBy(slots, ({ checkId }) => checkId),
  };
}

function secretsStateOf(subjects: readonly ResultSubject[]): SecretsState {
  const own = subjects.flatMap(({ checkId, ownSecrets }) =>
    ownSecrets === null ? [] : [[checkId, ownSecrets] as const],
  );
  return { revision: subjects[0]?.secretsRevision ?? 0, ownSecrets: new Map(own) };
}
