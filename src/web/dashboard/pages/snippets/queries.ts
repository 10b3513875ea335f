import { api, pageOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { invalidate } from '../../api/query.ts';
import { PAGE_SIZE, useList } from '../../parts/lists/use-list.ts';

export type Snippet = components['schemas']['Snippet'];

/** Smaller than the pages of other lists, because scripts may be large. */
export function useSnippets() {
  return useList<Snippet>('snippets', (page, signal) => {
    const query = { limit: PAGE_SIZE, page };
    return pageOf(api.GET('/v1/snippets', { params: { query }, signal }));
  });
}

export function reloadSnippets(): void {
  invalidate((key) => key.startsWith('snippet'));
}
