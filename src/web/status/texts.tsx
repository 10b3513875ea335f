import type { VNode } from 'preact';
import type { IncidentStatus } from '../../model/incident/dashboard-incident.ts';
import { DAY_MS } from '../../model/time-units.ts';

const UTC = { timeZone: 'UTC' } as const;
const DATE = new Intl.DateTimeFormat('en-GB', {
  ...UTC,
  day: 'numeric',
  month: 'short',
  year: 'numeric',
});
const MONTH = new Intl.DateTimeFormat('en-GB', { ...UTC, month: 'long', year: 'numeric' });
const DAY = new Intl.DateTimeFormat('en-GB', { ...UTC, day: 'numeric', month: 'short' });
const MINUTE = new Intl.DateTimeFormat('en-GB', { ...UTC, hour: '2-digit', minute: '2-digit' });
const SECOND = new Intl.DateTimeFormat('en-GB', {
  ...UTC,
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});
const COUNT = new Intl.NumberFormat('en-US');

export const INCIDENT_STATUS_WORDS: Readonly<Record<IncidentStatus, string>> = {
  INVESTIGATING: 'Investigating',
  IDENTIFIED: 'Identified',
  MONITORING: 'Monitoring',
  RESOLVED: 'Resolved',
};

/** For example 1,234. */
export const numberText = (count: number): string => COUNT.format(count);

/** `singular` for one, else the count with `plural`. */
export function pluralText(count: number, singular: string, plural: string): string {
  return `${numberText(count)} ${count === 1 ? singular : plural}`;
}

/** For example November 2026. */
export const monthText = (atMs: number): string => MONTH.format(atMs);

/** For example 12 Nov 2026. */
export const dateText = (atMs: number): string => DATE.format(atMs);

/** For example 12 Nov. */
export const dayText = (dayMs: number): string => DAY.format(dayMs);

/** For example 12 Nov 2026, 09:12 UTC. */
export const instantText = (atMs: number): string =>
  `${DATE.format(atMs)}, ${MINUTE.format(atMs)} UTC`;

/** An instant; `precision` names what is shown of it. */
export function Instant({
  atMs,
  precision = 'minute',
}: {
  readonly atMs: number;
  readonly precision?: 'minute' | 'second';
}): VNode {
  const text =
    precision === 'minute' ? instantText(atMs) : `${DATE.format(atMs)}, ${SECOND.format(atMs)} UTC`;
  return <time dateTime={new Date(atMs).toISOString()}>{text}</time>;
}

/** An instant relative to the time of the page: without the date if it is the same day, or without the current year. */
export function RecentInstant({
  atMs,
  nowMs,
}: {
  readonly atMs: number;
  readonly nowMs: number;
}): VNode {
  const isToday = DATE.format(atMs) === DATE.format(nowMs);
  const isThisYear = new Date(atMs).getUTCFullYear() === new Date(nowMs).getUTCFullYear();
  const day = isThisYear ? DAY.format(atMs) : DATE.format(atMs);
  return (
    <time dateTime={new Date(atMs).toISOString()}>
      {isToday ? '' : `${day}, `}
      {MINUTE.format(atMs)} UTC
    </time>
  );
}

/** From one instant to another; the date once if both are of the same day, and one time within a minute. */
export function Period({
  startMs,
  endMs,
}: {
  readonly startMs: number;
  readonly endMs: number;
}): VNode {
  if (instantText(startMs) === instantText(endMs)) return <Instant atMs={startMs} />;
  const isOneDay = Math.floor(startMs / DAY_MS) === Math.floor((endMs - 1) / DAY_MS);
  return (
    <>
      <time dateTime={new Date(startMs).toISOString()}>
        {DATE.format(startMs)}, {MINUTE.format(startMs)}
      </time>
      {' to '}
      <time dateTime={new Date(endMs).toISOString()}>
        {isOneDay ? '' : `${DATE.format(endMs)}, `}
        {MINUTE.format(endMs)} UTC
      </time>
    </>
  );
}

/** With two decimals and rounded down: a service that ever failed never shows 100 %. */
export function availabilityText(share: number): string {
  if (share === 1) return '100 %';
  // The rounding error of the binary number must not change a digit.
  const hundredths = Math.min(Math.floor(share * 10_000 + 1e-6), 9_999);
  return `${(hundredths / 100).toFixed(2)} %`;
}
