/** A part of a list. Both count from 1; the limit is at most 100 (spec part 8). */
export interface Page {
  readonly limit: number;
  readonly page: number;
}

/** How the store takes it. */
export function rangeOf({ limit, page }: Page): {
  readonly limit: number;
  readonly offset: number;
} {
  return { limit, offset: (page - 1) * limit };
}
