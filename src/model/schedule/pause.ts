import { z } from 'zod';
import {
  isWithin,
  mergedRecurrence,
  REPEAT_UNITS,
  type Recurrence,
  spanAt,
  type TimeSpan,
} from './recurrence.ts';

/** JavaScript's range of dates; beyond it months cannot be computed. */
const instantMs = z.int().min(0).max(8_640_000_000_000_000);

/** The pause of checks that a maintenance window defines, as sent to agents. */
export const pauseSchema = z.object({
  /** Epoch milliseconds of the first occurrence. */
  startsAtMs: instantMs,
  /** Exclusive. */
  endsAtMs: instantMs,
  repeatUnit: z.enum(REPEAT_UNITS),
  /** Units between the starts of two occurrences; null if there is only one. */
  repeatInterval: z.int().min(1).nullable(),
  /** No occurrence starts at this instant or later; null for never ending. */
  repeatEndsAtMs: instantMs.nullable(),
  /** Checks with any of these tags, of their own or their group's; null for all checks. */
  tags: z.array(z.string()).nullable(),
});
export type Pause = z.output<typeof pauseSchema>;

/**
 * Whether a check with these tags, its own and its group's, skips a slot at the instant
 * (src/service/README.md, "Maintenance windows"). For many checks, `compilePauses` costs less.
 */
export function pausedAt(
  pauses: readonly Pause[],
  tags: readonly string[],
  instantMs: number,
): boolean {
  return pauses.some((pause) => isFor(pause, tags) && isWithin(pause, instantMs));
}

function isFor(pause: Pause, tags: readonly string[]): boolean {
  return pause.tags === null || pause.tags.some((tag) => tags.includes(tag));
}

/** The instants from `fromMs` up to, not including, `toMs`. */
export interface PausedSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

/** When checks with some tags pause. */
export interface PauseTimes {
  isPausedAt(instantMs: number): boolean;
  /**
   * The spans that touch the time from `fromMs` to `toMs`, in order and disjoint. At most 100
   * are computed; the time after them counts as not paused.
   */
  pausedBetween(fromMs: number, toMs: number): readonly PausedSpan[];
}

/** For a check without pauses. */
export const NEVER_PAUSED: PauseTimes = { isPausedAt: () => false, pausedBetween: () => [] };

export interface CompiledPauses {
  /** For a check with these tags, its own and its group's. Checks paused alike share one. */
  timesFor(tags: readonly string[]): PauseTimes;
}

/**
 * The pauses in a form that many checks query at each of their slots. For instants close together,
 * such as the slots of one moment, a query costs two comparisons.
 */
export function compilePauses(pauses: readonly Pause[]): CompiledPauses {
  const ofAll: Recurrence[] = [];
  const byTag = new Map<string, Recurrence[]>();
  for (const pause of pauses) {
    const recurrence = mergedRecurrence(pause);
    if (pause.tags === null) ofAll.push(recurrence);
    for (const tag of new Set(pause.tags ?? [])) {
      const ofTag = byTag.get(tag);
      if (ofTag === undefined) byTag.set(tag, [recurrence]);
      else ofTag.push(recurrence);
    }
  }
  /** Keyed by the tags of a check that any pause names, joined to one text. */
  const cached = new Map<string, PauseTimes>();
  return {
    timesFor(tags) {
      const named = tags.filter((tag) => byTag.has(tag));
      const key = keyOf(named);
      const found = cached.get(key);
      if (found !== undefined) return found;
      const all = new Set([...ofAll, ...named.flatMap((tag) => byTag.get(tag) ?? [])]);
      const times = all.size === 0 ? NEVER_PAUSED : timesOf([...all]);
      cached.set(key, times);
      return times;
    },
  };
}

function keyOf(tags: readonly string[]): string {
  const [first, ...more] = tags;
  if (first === undefined) return '';
  // JSON only for several tags: it costs more than everything else here.
  return more.length === 0 ? `one ${first}` : JSON.stringify(tags.toSorted());
}

/** The maximum of spans computed for a range of time: three months of a daily window. */
const MAX_SPANS = 100;
/** The maximum of steps to compute them, where many occurrences overlap. */
const MAX_STEPS = 4_096;
/** The ends of a queried range are rounded to this, so that checks share the answer. */
const ROUNDING_MS = 86_400_000;

const NOTHING: TimeSpan = { isInside: false, fromMs: 0, toMs: 0 };

function timesOf(all: readonly Recurrence[]): PauseTimes {
  let last = NOTHING;
  let lastBetween = { fromMs: Number.NaN, toMs: 0, spans: [] as readonly PausedSpan[] };
  const at = (instantMs: number): TimeSpan => {
    if (instantMs >= last.fromMs && instantMs < last.toMs) return last;
    last = spanOfAny(all, instantMs);
    return last;
  };
  return {
    isPausedAt: (instantMs) => at(instantMs).isInside,
    pausedBetween(from, to) {
      const fromMs = Math.floor(from / ROUNDING_MS) * ROUNDING_MS;
      const toMs = Math.ceil(to / ROUNDING_MS) * ROUNDING_MS;
      if (lastBetween.fromMs !== fromMs || lastBetween.toMs !== toMs) {
        lastBetween = { fromMs, toMs, spans: spansBetween(all, fromMs, toMs) };
      }
      return lastBetween.spans.filter((span) => span.toMs > from && span.fromMs <= to);
    },
  };
}

/** A span around the instant that is inside an occurrence, or inside none. */
function spanOfAny(all: readonly Recurrence[], instantMs: number): TimeSpan {
  let [fromMs, toMs] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const recurrence of all) {
    const span = spanAt(recurrence, instantMs);
    if (span.isInside) return span;
    fromMs = Math.max(fromMs, span.fromMs);
    toMs = Math.min(toMs, span.toMs);
  }
  return { isInside: false, fromMs, toMs };
}

function spansBetween(
  all: readonly Recurrence[],
  fromMs: number,
  toMs: number,
): readonly PausedSpan[] {
  const spans: PausedSpan[] = [];
  let atMs = fromMs;
  for (let step = 0; atMs <= toMs && step < MAX_STEPS; step += 1) {
    const span = spanOfAny(all, atMs);
    if (span.isInside) {
      const before = spans.at(-1);
      const joins = before !== undefined && before.toMs === atMs;
      if (!joins && spans.length === MAX_SPANS) break;
      if (joins) spans.pop();
      spans.push({ fromMs: joins ? before.fromMs : span.fromMs, toMs: span.toMs });
    }
    atMs = span.toMs;
  }
  return spans;
}
