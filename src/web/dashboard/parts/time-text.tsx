import { signal } from '@preact/signals';
import { duration } from './formats.ts';

const DATE_TIME = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});
const CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});
const DATE = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
});

const TICK_MS = 10_000;

/** The current time for relative times, epoch milliseconds: updated every 10 s while the page is visible. */
export const nowMs = signal(Date.now());
setInterval(() => {
  if (!document.hidden) nowMs.value = Date.now();
}, TICK_MS);
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) nowMs.value = Date.now();
});

interface TimeTextProps {
  readonly at: string | number;
  /**
   * `ago`: 3 min ago; `since`: 3 min; `full`: the date and the time; `date`; `clock`: the time. All in the
   * reader's zone, with the instant in UTC as the title. Default: `ago`.
   */
  readonly form?: 'ago' | 'since' | 'full' | 'date' | 'clock';
}

/** A time, in the reader's zone and, on hover, in UTC. */
export function TimeText({ at, form = 'ago' }: TimeTextProps) {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return <>–</>;
  const iso = date.toISOString();
  return (
    <time dateTime={iso} title={iso}>
      {textOf(date, form)}
    </time>
  );
}

function textOf(date: Date, form: NonNullable<TimeTextProps['form']>): string {
  if (form === 'full') return DATE_TIME.format(date);
  if (form === 'date') return DATE.format(date);
  if (form === 'clock') return CLOCK.format(date);
  // If the clock is slightly behind that of the service, no future time is shown.
  const ageMs = nowMs.value - date.getTime();
  if (form === 'since') return duration(ageMs);
  if (ageMs < -60_000) return `in ${duration(-ageMs)}`;
  return ageMs < 10_000 ? 'just now' : `${duration(ageMs)} ago`;
}
