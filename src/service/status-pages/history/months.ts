/** A calendar month in UTC. */
export interface Month {
  /** YYYY-MM */
  readonly name: string;
  readonly startMs: number;
  /** The start of the next one. */
  readonly endMs: number;
}

/** How many months readers can go back, including the current one. */
const MAX_MONTHS = 36;

const NAME = /^\d{4}-(?:0[1-9]|1[0-2])$/;

export function monthAt(atMs: number): Month {
  const at = new Date(atMs);
  return monthOf(at.getUTCFullYear(), at.getUTCMonth());
}

/** The month `months` months before. */
export function monthBefore({ startMs }: Month, months = 1): Month {
  const start = new Date(startMs);
  return monthOf(start.getUTCFullYear(), start.getUTCMonth() - months);
}

/** Parses the name of a month; null if it is invalid, in the future, or more than MAX_MONTHS ago. */
export function monthNamed(name: string, nowMs: number): Month | null {
  if (!NAME.test(name)) return null;
  const month = monthAt(Date.parse(`${name}-01T00:00:00Z`));
  const isShown = month.startMs >= firstMonth(nowMs).startMs && month.startMs <= nowMs;
  return isShown ? month : null;
}

/** The earliest month that readers can go back to. */
export function firstMonth(nowMs: number): Month {
  return monthBefore(monthAt(nowMs), MAX_MONTHS - 1);
}

function monthOf(year: number, index: number): Month {
  const startMs = Date.UTC(year, index);
  return {
    name: new Date(startMs).toISOString().slice(0, 7),
    startMs,
    endMs: Date.UTC(year, index + 1),
  };
}
