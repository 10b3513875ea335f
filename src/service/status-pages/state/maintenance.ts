import { spanAt } from '../../../model/schedule/recurrence.ts';
import type { StoredWindow } from '../../maintenance-windows/shared.sql.ts';

/** From `fromMs` to before `toMs`, epoch milliseconds. */
export interface Occurrence {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A window whose occurrences in some days are known. */
export interface KnownWindow {
  readonly id: string;
  readonly name: string;
  /** Those that touch the days, the earliest first. */
  readonly past: readonly Occurrence[];
  /** The one that is running, else the next one. */
  readonly next: (Occurrence & { readonly isRunning: boolean }) | null;
}

/** Which maintenance windows concern a check. */
export interface MaintenanceTimes {
  /** For a check or a service with these tags. */
  windowsFor(tags: readonly string[]): readonly KnownWindow[];
}

/**
 * A window concerns the checks that it pauses, and those whose alerts it silences: either says that work is
 * going on there.
 *
 * @param fromMs the beginning of the days; `nowMs` is in the last one
 */
export function maintenanceTimes(
  windows: readonly StoredWindow[],
  { fromMs, nowMs }: { readonly fromMs: number; readonly nowMs: number },
): MaintenanceTimes {
  const ofAll: KnownWindow[] = [];
  const byTag = new Map<string, KnownWindow[]>();
  for (const stored of windows) {
    const { window } = stored;
    const known = knownWindow(stored, { fromMs, nowMs });
    if (window.pauseAllChecks || window.silenceAllAlerts) {
      ofAll.push(known);
      continue;
    }
    for (const tag of new Set([...window.tags, ...window.silenceAlertsTags])) {
      const ofTag = byTag.get(tag);
      if (ofTag === undefined) byTag.set(tag, [known]);
      else ofTag.push(known);
    }
  }
  return {
    windowsFor: (tags) => [...new Set([...ofAll, ...tags.flatMap((tag) => byTag.get(tag) ?? [])])],
  };
}

function knownWindow(
  { id, window }: StoredWindow,
  { fromMs, nowMs }: { readonly fromMs: number; readonly nowMs: number },
): KnownWindow {
  const past: Occurrence[] = [];
  let atMs = fromMs;
  // No window starts more than once a day.
  while (atMs <= nowMs) {
    const span = spanAt(window, atMs);
    if (span.isInside) past.push({ fromMs: span.fromMs, toMs: span.toMs });
    atMs = span.toMs;
  }
  const now = spanAt(window, nowMs);
  if (now.isInside) {
    return { id: String(id), name: window.name, past, next: { ...now, isRunning: true } };
  }
  const startMs = now.toMs;
  const lengthMs = window.endsAtMs - window.startsAtMs;
  const next = Number.isFinite(startMs)
    ? { fromMs: startMs, toMs: startMs + lengthMs, isRunning: false }
    : null;
  return { id: String(id), name: window.name, past, next };
}

/** When the first of the windows that are running began; null if none is. */
export function runningSince(windows: readonly KnownWindow[]): number | null {
  const starts = windows.flatMap(({ next }) => (next?.isRunning === true ? [next.fromMs] : []));
  return starts.length === 0 ? null : Math.min(...starts);
}

/**
 * The times of the windows on a day, as disjoint spans of whole hours: each hour that a window touches.
 */
export function hoursOnDay(windows: readonly KnownWindow[], dayMs: number): readonly Occurrence[] {
  const touched = new Set<number>();
  for (const { past } of windows) {
    for (const { fromMs, toMs } of past) {
      const first = Math.max(0, Math.floor((fromMs - dayMs) / HOUR_MS));
      const end = Math.min(HOURS, Math.ceil((toMs - dayMs) / HOUR_MS));
      for (let hour = first; hour < end; hour += 1) touched.add(hour);
    }
  }
  const spans: { fromMs: number; toMs: number }[] = [];
  for (const hour of [...touched].toSorted((one, other) => one - other)) {
    const fromMs = dayMs + hour * HOUR_MS;
    const last = spans.at(-1);
    if (last?.toMs === fromMs) last.toMs += HOUR_MS;
    else spans.push({ fromMs, toMs: fromMs + HOUR_MS });
  }
  return spans;
}

const HOUR_MS = 3_600_000;
const HOURS = 24;

/** Whether an occurrence of the window touches the day. */
export function isOnDay({ past }: KnownWindow, dayMs: number): boolean {
  return past.some(({ fromMs, toMs }) => fromMs < dayMs + HOURS * HOUR_MS && toMs > dayMs);
}
