/** A duration in milliseconds for people: `0.42 ms`, `12.3 ms`, `350 ms`, `12.3 s`. */
export function prettyDuration(durationMs: number): string {
  if (durationMs >= 10_000) return `${(durationMs / 1000).toFixed(1)} s`;
  if (durationMs >= 100) return `${durationMs.toFixed(0)} ms`;
  return `${durationMs.toFixed(durationMs >= 10 ? 1 : 2)} ms`;
}

/** `08:39:04`, in local time. */
export function timeOfDay(epochMs: number): string {
  return new Date(epochMs).toTimeString().slice(0, 8);
}

/** `2026-01-31`, in local time. */
export function dayOf(epochMs: number): string {
  const day = new Date(epochMs);
  return `${day.getFullYear()}-${twoDigits(day.getMonth() + 1)}-${twoDigits(day.getDate())}`;
}

/** `08:39:04` on the day of `nowMs`, else `2026-01-31 08:39`; in local time. */
export function whenText(epochMs: number, nowMs: number): string {
  const time = timeOfDay(epochMs);
  const day = dayOf(epochMs);
  return day === dayOf(nowMs) ? time : `${day} ${time.slice(0, 5)}`;
}

/** An age or a wait in milliseconds, rounded down to two units: `42 s`, `7 min`, `3 h 12 min`, `4 d 3 h`. */
export function ageText(durationMs: number): string {
  const seconds = Math.max(0, Math.floor(durationMs / 1000));
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3600)];
  if (minutes === 0) return `${seconds} s`;
  if (hours === 0) return `${minutes} min`;
  if (hours < 24) return twoUnits(hours, 'h', minutes % 60, 'min');
  return twoUnits(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

function twoUnits(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return `${large} ${largeUnit}${small === 0 ? '' : ` ${small} ${smallUnit}`}`;
}

function twoDigits(part: number): string {
  return String(part).padStart(2, '0');
}
