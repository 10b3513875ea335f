/** Days in the reader's zone. A day may have 23 or 25 hours: never add 24. */

export type View = 'month' | 'week';

/** At midnight. */
export function dayOf(at: Date | number, daysLater = 0): Date {
  const date = new Date(at);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + daysLater);
}

/** `2026-11-28` */
export function dayText(day: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}

/** Null for a text that is not a day. */
export function parseDay(text: string | null): Date | null {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text ?? '') ?? [];
  if (year === undefined) return null;
  const day = new Date(Number(year), Number(month) - 1, Number(date));
  return dayText(day) === text ? day : null;
}

/** The days of the grid, from a Monday to a Sunday. */
export function daysOf(view: View, day: Date): readonly Date[] {
  const first = view === 'month' ? new Date(day.getFullYear(), day.getMonth(), 1) : day;
  const monday = dayOf(first, -((first.getDay() + 6) % 7));
  const last = new Date(day.getFullYear(), day.getMonth() + 1, 0);
  const weeks =
    view === 'week'
      ? 1
      : Math.ceil((Math.round((last.getTime() - monday.getTime()) / 86_400_000) + 1) / 7);
  return Array.from({ length: weeks * 7 }, (_, index) => dayOf(monday, index));
}

/** The same day of the next or the last month or week. */
export function moved(view: View, day: Date, by: 1 | -1): Date {
  if (view === 'week') return dayOf(day, by * 7);
  const lastDay = new Date(day.getFullYear(), day.getMonth() + by + 1, 0).getDate();
  return new Date(day.getFullYear(), day.getMonth() + by, Math.min(day.getDate(), lastDay));
}

/** For `<input type="datetime-local">`: the reader's time. */
export function localInput(at: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${dayText(at)}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** `Europe/Berlin (UTC+1)` */
export function zoneText(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  const minutes = -new Date().getTimezoneOffset();
  const hours = `${minutes < 0 ? '−' : '+'}${Math.floor(Math.abs(minutes) / 60)}`;
  const rest = Math.abs(minutes) % 60;
  return `${timeZone} (UTC${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`})`;
}
