/** All statuses from the first to the last. */
type StatusRange = readonly [first: number, last: number];

const RANGE = /^\s*(\d{3})(?:\s*-\s*(\d{3}))?\s*$/;

/** The ranges of a list such as `200-299, 404`; null for other texts and ranges like `299-200`. */
export function parseStatuses(text: string): readonly StatusRange[] | null {
  const ranges: StatusRange[] = [];
  for (const part of text.split(',')) {
    const [, first, last = first] = RANGE.exec(part) ?? [];
    if (first === undefined || Number(first) > Number(last)) return null;
    ranges.push([Number(first), Number(last)]);
  }
  return ranges;
}

/** Writes statuses as a list such as `200-299, 404`. They must be in ascending order. */
export function statusList(statuses: readonly number[]): string {
  const ranges: [first: number, last: number][] = [];
  for (const status of statuses) {
    const range = ranges.at(-1);
    if (range !== undefined && range[1] === status - 1) range[1] = status;
    else ranges.push([status, status]);
  }
  return ranges.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(', ');
}
