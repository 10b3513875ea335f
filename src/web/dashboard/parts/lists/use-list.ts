import { useState } from 'preact/hooks';
import { type Query, type QueryOptions, useQuery } from '../../api/query.ts';

export interface Part<Entry> {
  readonly entries: readonly Entry[];
  readonly total: number | null;
  /** Whether there are more than `total`. */
  readonly isAtLeast: boolean;
}

export const PAGE_SIZE = 100;

/** A list that loads further pages on request. */
export function useList<Entry>(
  key: string,
  load: (page: number, signal: AbortSignal) => Promise<Part<Entry>>,
  options?: QueryOptions,
): { readonly query: Query<Part<Entry>>; readonly more: () => void } {
  const [pages, setPages] = useState(1);
  const query = useQuery(
    `${key} pages=${pages}`,
    async (signal) => {
      const entries: Entry[] = [];
      let total: number | null = null;
      let isAtLeast = false;
      for (let page = 1; page <= pages; page += 1) {
        const part = await load(page, signal);
        entries.push(...part.entries);
        ({ total, isAtLeast } = part);
        if (part.entries.length < PAGE_SIZE) break;
      }
      return { entries, total, isAtLeast };
    },
    options,
  );
  return { query, more: () => setPages(pages + 1) };
}
