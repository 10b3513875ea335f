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
