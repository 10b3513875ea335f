/** Numbers and durations as texts. Every number has its unit. */

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

const INTEGER = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** A count: `12,345`. */
export function count(value: number): string {
  return INTEGER.format(value);
}

/** `1 check`, `12 checks`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** The total of a list: `more than 10,000` if the API stopped counting there. */
export function totalText(total: number, isAtLeast: boolean): string {
  return isAtLeast ? `more than ${count(total)}` : count(total);
}

/** A measured time with two or three digits: `0.42 ms`, `3.1 ms`, `184 ms`, `1.42 s`, `30 s`. Null: `–`. */
export function responseTime(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '–';
  if (ms < 1) return `${ms.toFixed(2)} ms`;
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  const seconds = ms / SECOND_MS;
  if (seconds < 9.995) return `${seconds.toFixed(2)} s`;
  return seconds < 99.95 ? `${Number(seconds.toFixed(1))} s` : duration(ms);
}

/** A span of time in its two largest units: `23 min`, `4 h 12 min`, `12 d`. */
export function duration(ms: number): string {
  const whole = Math.max(0, ms);
  if (whole < MINUTE_MS) return `${Math.floor(whole / SECOND_MS)} s`;
  if (whole < HOUR_MS) return `${Math.floor(whole / MINUTE_MS)} min`;
  if (whole < DAY_MS) {
    const minutes = Math.floor((whole % HOUR_MS) / MINUTE_MS);
    return `${Math.floor(whole / HOUR_MS)} h${minutes === 0 ? '' : ` ${minutes} min`}`;
  }
  const hours = Math.floor((whole % DAY_MS) / HOUR_MS);
  const days = Math.floor(whole / DAY_MS);
  return days >= 3 || hours === 0 ? `${count(days)} d` : `${days} d ${hours} h`;
}

/** `18.2 KB`; a KB is 1,000 bytes. */
export function bytes(value: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];
  const power = value < 1_000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(value) / 3));
  const scaled = value / 1_000 ** power;
  return `${power === 0 || scaled >= 99.95 ? count(scaled) : scaled.toFixed(1)} ${units[power]}`;
}

/**
 * The percentage of two counts: `99.95 %`, rounded down, so that 100 % means all. Takes counts because a share
 * is rounded already: 57 of 100 would become 56.99 %.
 *
 * @param whole above 0
 */
export function percent(part: number, whole: number): string {
  return `${Math.floor((part * 10_000) / whole) / 100} %`;
}

/** A key as lists show it: its beginning and, unless an earlier release made it, its end. */
export function keyText({
  prefix,
  lastFour,
}: {
  readonly prefix: string;
  readonly lastFour: string | null;
}): string {
  return `${prefix}…${lastFour ?? ''}`;
}
