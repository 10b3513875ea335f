import type { ApiClient } from './api-client.ts';

const PAGE_SIZE = 100;
const MAX_PAGES = 1000;

/** All entries of a list of the API, page by page. */
export async function allPages<T>(
  client: Pick<ApiClient, 'get'>,
  path: string,
  read: (json: unknown) => readonly T[],
  signal: AbortSignal,
): Promise<readonly T[]> {
  const entries: T[] = [];
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const found = read(await client.get(`${path}?limit=${PAGE_SIZE}&page=${page}`, signal));
    entries.push(...found);
    // Not at a short page: entries that are deleted meanwhile are missing in it.
    if (found.length === 0) break;
  }
  return entries;
}
