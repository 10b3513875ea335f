const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;
const DAY_MINUTES = 24 * HOUR_MINUTES;

/** The two largest units of a time, rounded down: 1 h 5 min. */
export function lengthText(ms: number): string {
  const minutes = Math.floor(Math.max(0, ms) / MINUTE_MS);
  if (minutes < 1) return 'less than a minute';
  if (minutes < HOUR_MINUTES) return `${minutes} min`;
  const [large, small, units] =
    minutes < DAY_MINUTES
      ? [Math.floor(minutes / HOUR_MINUTES), minutes % HOUR_MINUTES, ['h', 'min']]
      : [
          Math.floor(minutes / DAY_MINUTES),
          Math.floor((minutes % DAY_MINUTES) / HOUR_MINUTES),
          ['d', 'h'],
        ];
  return `${large} ${units[0]}${small === 0 ? '' : ` ${small} ${units[1]}`}`;
}
