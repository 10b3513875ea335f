import { DAY_MS, MINUTE_MS } from '../../../model/time-units.ts';
/** The spans in minutes that a row of result_rollups can cover, longest first. */
export const SPANS = [1440, 60, 15] as const;
export type RollUpSpan = (typeof SPANS)[number];

/** A time range of a check, to be read from the roll-ups of a span or, with span 0, from the runs. */
export interface RollUpSegment {
  readonly checkId: string;
  readonly span: RollUpSpan | 0;
  /** Epoch milliseconds; `toMs` is exclusive. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** Marks a roll-up that lacks runs: it and the longer roll-ups that contain it cannot be read. */
export interface Mark {
  readonly checkId: string;
  readonly span: RollUpSpan;
  readonly startMs: number;
}

/** The state of the roll-ups of an account's checks. */
export interface RollUpState {
  readonly marks: readonly Mark[];
  /** The starts of days of results that have no roll-ups yet. */
  readonly backfillDaysMs: ReadonlySet<number>;
  /** All results before this time were dropped: their roll-ups no longer change. */
  readonly resultsFromMs: number;
}

export interface SegmentQuery {
  readonly checkId: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** Points start at multiples of this: a roll-up must not overlap two points. null for no restriction. */
  readonly pointMinutes: number | null;
  readonly nowMs: number;
}

const QUARTER_MS = 15 * MINUTE_MS;
/** How many days before today are read by quarter hours. */
export const QUARTER_DAYS = 7;
/** More than any retention. */
const MAX_DAYS = 3_700;
/** Slots are at most a day ahead. */
const MAX_AHEAD_MS = 2 * DAY_MS;

export function startOf(ms: number, spanMs: number): number {
  return Math.floor(ms / spanMs) * spanMs;
}

/**
 * Divides a window into the longest roll-ups that contain all their runs, and single runs for the rest. If
 * results of a time range were dropped, covers only whole hours of it.
 *
 * @returns segments sorted by time, without overlaps
 */
export function planSegments(query: SegmentQuery, state: RollUpState): readonly RollUpSegment[] {
  const { checkId, pointMinutes, nowMs } = query;
  const today = startOf(nowMs, DAY_MS);
  const fromMs = Math.max(query.fromMs, today - MAX_DAYS * DAY_MS);
  const toMs = Math.min(query.toMs, nowMs + MAX_AHEAD_MS);
  const spans = SPANS.filter((span) => pointMinutes === null || pointMinutes % span === 0);
  const stale = staleStarts(checkId, state.marks);

  const isReadable = (span: RollUpSpan, startMs: number): boolean => {
    if (span === 15 && startMs < today - QUARTER_DAYS * DAY_MS) return false;
    if (startMs < state.resultsFromMs) return true;
    return !state.backfillDaysMs.has(startOf(startMs, DAY_MS)) && !stale[span].has(startMs);
  };

  const segments: { checkId: string; span: RollUpSpan | 0; fromMs: number; toMs: number }[] = [];
  let atMs = fromMs;
  while (atMs < toMs) {
    const startMs = atMs;
    const span =
      spans.find((minutes) => {
        const spanMs = minutes * MINUTE_MS;
        return startMs % spanMs === 0 && startMs + spanMs <= toMs && isReadable(minutes, startMs);
      }) ?? 0;
    atMs =
      span === 0
        ? Math.min(toMs, startOf(startMs, QUARTER_MS) + QUARTER_MS)
        : startMs + span * MINUTE_MS;
    if (span === 0 && startMs < state.resultsFromMs) continue;
    const last = segments.at(-1);
    if (last !== undefined && last.span === span && last.toMs === startMs) last.toMs = atMs;
    else segments.push({ checkId, span, fromMs: startMs, toMs: atMs });
  }
  return segments;
}

/** The starts of the roll-ups of each span that lack runs. */
function staleStarts(
  checkId: string,
  marks: readonly Mark[],
): Readonly<Record<RollUpSpan, ReadonlySet<number>>> {
  const stale = { 15: new Set<number>(), 60: new Set<number>(), 1440: new Set<number>() };
  for (const mark of marks) {
    if (mark.checkId !== checkId) continue;
    for (const span of SPANS) {
      if (span >= mark.span) stale[span].add(startOf(mark.startMs, span * MINUTE_MS));
    }
  }
  return stale;
}
