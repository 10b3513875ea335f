import { type Recurrence, spanAt } from '../../../model/schedule/recurrence.ts';
import { DAY_MS, HOUR_MS } from '../../../model/time-units.ts';
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
  readonly createdAtMs: number;
  /** When it was last changed, or else created. */
  readonly changedAtMs: number;
  /** The hours that it touches, one bit for each, by the start of the day; other days are missing. */
  readonly hours: ReadonlyMap<number, number>;
  /** The one that is running, else the next one. */
  readonly next: (Occurrence & { readonly isRunning: boolean }) | null;
}

/** Which maintenance windows concern a check. */
export interface MaintenanceTimes {
  /** For a check or a service with these tags. */
  windowsFor(tags: readonly string[]): readonly KnownWindow[];
  /** Changes whenever a window is added, removed or changed. */
  readonly version: string;
}

/**
 * A window concerns the checks that it pauses and those whose alerts it silences: both mean maintenance.
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
    version: windows.map(({ id, updatedAt }) => `${id} ${updatedAt?.getTime() ?? ''}`).join(),
    windowsFor: (tags) => [...new Set([...ofAll, ...tags.flatMap((tag) => byTag.get(tag) ?? [])])],
  };
}

function knownWindow(
  { id, window, createdAt, updatedAt }: StoredWindow,
  { fromMs, nowMs }: { readonly fromMs: number; readonly nowMs: number },
): KnownWindow {
  const known = {
    id: String(id),
    name: window.name,
    createdAtMs: createdAt.getTime(),
    changedAtMs: (updatedAt ?? createdAt).getTime(),
    hours: hoursBetween(window, fromMs, nowMs),
  };
  const now = spanAt(window, nowMs);
  if (now.isInside) return { ...known, next: { ...now, isRunning: true } };
  const startMs = now.toMs;
  if (!Number.isFinite(startMs)) return { ...known, next: null };
  const endMs = startMs + window.endsAtMs - window.startsAtMs;
  return { ...known, next: { fromMs: startMs, toMs: endMs, isRunning: false } };
}

const HOURS = 24;

function hoursBetween(
  window: Recurrence,
  fromMs: number,
  toMs: number,
): ReadonlyMap<number, number> {
  const hours = new Map<number, number>();
  let atMs = fromMs;
  // No window starts more than once a day.
  while (atMs <= toMs) {
    const span = spanAt(window, atMs);
    if (span.isInside) {
      const endMs = Math.min(span.toMs, toMs + 1);
      let hourMs = Math.floor(Math.max(span.fromMs, fromMs) / HOUR_MS) * HOUR_MS;
      for (; hourMs < endMs; hourMs += HOUR_MS) {
        const dayMs = Math.floor(hourMs / DAY_MS) * DAY_MS;
        hours.set(dayMs, (hours.get(dayMs) ?? 0) | (1 << ((hourMs - dayMs) / HOUR_MS)));
      }
    }
    atMs = span.toMs;
  }
  return hours;
}

/** When the first of the windows that are running began; null if none is. */
export function runningSince(windows: readonly KnownWindow[]): number | null {
  const starts = windows.flatMap(({ next }) => (next?.isRunning === true ? [next.fromMs] : []));
  return starts.length === 0 ? null : Math.min(...starts);
}

/** The hours of a day that one of the windows touches, as disjoint spans. */
export function hoursOnDay(windows: readonly KnownWindow[], dayMs: number): readonly Occurrence[] {
  const touched = windows.reduce((bits, { hours }) => bits | (hours.get(dayMs) ?? 0), 0);
  const spans: { fromMs: number; toMs: number }[] = [];
  for (let hour = 0; hour < HOURS; hour += 1) {
    if ((touched & (1 << hour)) === 0) continue;
    const fromMs = dayMs + hour * HOUR_MS;
    const last = spans.at(-1);
    if (last?.toMs === fromMs) last.toMs += HOUR_MS;
    else spans.push({ fromMs, toMs: fromMs + HOUR_MS });
  }
  return spans;
}
