import { type LogPriority, PRIORITY_OF_KIND } from '../drop-order.ts';
import { SPOOL_KINDS, type SpoolKind, type SpoolSlots } from '../spool.ts';
import type { NotedFrame } from './manifest.ts';
import {
  countNumbers,
  hasNumber,
  mergeRanges,
  missingFrom,
  type NumberRange,
} from './number-ranges.ts';

/** Records that damage lost. */
export interface LostRecords {
  readonly kind: SpoolKind;
  readonly count: number;
  /** null if the records have no slots, or no manifest contains them. */
  readonly slots: SpoolSlots | null;
}

/** The known frame numbers of a log. Frames are numbered without gaps, from file to file. */
export interface KnownNumbers {
  /** Numbers of undamaged frames; merged. */
  readonly seen: readonly NumberRange[];
  /** Frames that were on disk and whose files were not removed since. */
  readonly expected: NumberRange;
  /** Missing numbers from here on are of an unfinished write, which was never committed. */
  readonly tornFrom: number;
  /** Numbers that an earlier start found missing; merged. */
  readonly known: readonly NumberRange[];
}

export interface MissingNumbers {
  /** All damage, new or known. */
  readonly damaged: readonly NumberRange[];
  /** New damage. */
  readonly news: readonly NumberRange[];
  /** Numbers to record as lost, so that the next start does not report them again. */
  readonly toForget: readonly NumberRange[];
}

export function missingNumbers(numbers: KnownNumbers): MissingNumbers {
  const { seen, expected, tornFrom, known } = numbers;
  const { from, end } = expected;
  const wholeEnd = Math.max(from, Math.min(end, tornFrom));
  const damaged = missingFrom(seen, { from, end: wholeEnd });
  const torn = missingFrom(seen, { from: wholeEnd, end });
  const unknown = (ranges: readonly NumberRange[]): readonly NumberRange[] =>
    ranges.flatMap((range) => missingFrom(known, range));
  const news = unknown(damaged);
  return { damaged, news, toForget: mergeRanges([...news, ...unknown(torn)]) };
}

/**
 * The records that had these numbers, without those that were removed or exist in another file.
 *
 * @param noted frames with such numbers, from the manifests
 * @param isThere whether the record is undamaged in another file, or was removed
 */
export function lostRecords(
  ranges: readonly NumberRange[],
  {
    priority,
    noted,
    isThere,
  }: {
    readonly priority: LogPriority;
    readonly noted: readonly NotedFrame[];
    readonly isThere: (key: number) => boolean;
  },
): readonly LostRecords[] {
  const own = new Map<number, NotedFrame>();
  for (const each of noted) {
    if (hasNumber(ranges, each.number)) own.set(each.number, each);
  }
  const named: LostRecords[] = [];
  for (const each of own.values()) {
    if (each.kind === 'removal' || isThere(each.key)) continue;
    named.push({ kind: each.kind, count: 1, slots: each.slots });
  }
  const count = countNumbers(ranges) - own.size;
  const [likely] = SPOOL_KINDS.filter((kind) => PRIORITY_OF_KIND[kind] === priority);
  return count === 0 || likely === undefined
    ? named
    : [...named, { kind: likely, count, slots: null }];
}
