import { duration } from '../../parts/formats.ts';
import { StateMark } from '../../parts/states/state-mark.tsx';
import type { LocationStatus } from './queries.ts';

const MARKS = {
  online: { state: 'passing', word: 'Online' },
  silent: { state: 'failing', word: 'Silent' },
  idle: { state: 'unknown', word: 'No agent' },
  new: { state: 'unknown', word: 'No agent yet' },
} as const;

/** Whether agents of the location poll. */
export function LocationMark({ state }: Pick<LocationStatus, 'state'>) {
  return <StateMark {...MARKS[state]} />;
}

/** The clock offset from which on channels are notified: src/service/README.md, "Problems of monitoring itself". */
const CLOCK_LIMIT_MS = 2_000;
const LATE_MS = 1_000;
const WAITING_LIMIT_MS = 60_000;

export const isLate = (ms: number | null): boolean => ms !== null && ms >= LATE_MS;
export const isClockOff = (ms: number | null): boolean =>
  ms !== null && Math.abs(ms) > CLOCK_LIMIT_MS;
export const isWaitingLong = (ms: number | null): boolean => ms !== null && ms >= WAITING_LIMIT_MS;

/** `3 s ahead`, `12 ms behind`. */
export function clockText(aheadMs: number | null): string {
  if (aheadMs === null) return '–';
  const size = Math.abs(aheadMs);
  const text =
    size < 1_000 ? `${size} ms` : size < 10_000 ? `${(size / 1_000).toFixed(1)} s` : duration(size);
  if (size < 1) return '0 ms';
  return `${text} ${aheadMs > 0 ? 'ahead' : 'behind'}`;
}

/** Marks a value that needs attention by a word for screen readers, and by colour and weight. */
export function Warned({
  isBad,
  children,
}: {
  readonly isBad: boolean;
  readonly children: string;
}) {
  return isBad ? <strong class="degraded">{children}</strong> : children;
}
