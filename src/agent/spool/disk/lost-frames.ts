import { type LogPriority, PRIORITY_OF_KIND } from '../entry.ts';
import { SPOOL_KINDS, type SpoolKind, type SpoolSlots } from '../spool.ts';
import type { NotedFrame } from './manifest.ts';
import {
  countNumbers,
  hasNumber,
  mergeRanges,
  missingFrom,
  type NumberRange,
} from './number-ranges.ts';

/** What damage took. */
export interface LostRecords {
  readonly kind: SpoolKind;
  readonly count: number;
  /** null where no manifest tells them, or where there are none. */
  readonly slots: SpoolSlots | null;
}

/** What is known of a log's numbers. Frames are numbered without gaps, from file to file. */
export interface KnownNumbers {
  /** Of whole frames; merged. */
  readonly seen: readonly NumberRange[];
  /** All that were on disk once and whose files were not taken away since. */
  readonly expected: NumberRange;
  /** Missing ones from here on are of a write that was cut short: nobody was told that they are on disk. */
  readonly tornFrom: number;
  /** Those that an earlier start found missing; merged. */
  readonly known: readonly NumberRange[];
}

export interface MissingNumbers {
  /** Damage, whether it was found before or not. */
  readonly damaged: readonly NumberRange[];
  /** Damage that was not known. */
  readonly news: readonly NumberRange[];
  /** What the next start is not to take for news. */
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
 * The records that had these numbers and left in no other way.
 *
 * @param noted frames with such numbers, from the manifests
 * @param isThere whether the record is whole elsewhere, or left
 */
export function lostRecords(
  ranges: readonly NumberRange[],
  {
    lot,
    noted,
    isThere,
  }: {
    readonly lot: LogPriority;
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
  const [likely] = SPOOL_KINDS.filter((kind) => PRIORITY_OF_KIND[kind] === lot);
  return count === 0 || likely === undefined
    ? named
    : [...named, { kind: likely, count, slots: null }];
}
