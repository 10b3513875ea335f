import { api, pageOf } from '../../api/client.ts';
import { invalidate, type Query, useQuery } from '../../api/query.ts';
import { count } from '../formats.ts';

const KEY = 'all groups';
const PAGE_SIZE = 100;
const MAX_PAGES = 10;
const MAX_GROUPS = PAGE_SIZE * MAX_PAGES;

export interface Groups {
  /** The oldest first, at most MAX_GROUPS. */
  readonly groups: readonly { readonly id: number; readonly name: string }[];
  /** The note of a page if there are more groups; null if there are not. */
  readonly limitNote: string | null;
}

/** The groups of the account, by id and name. */
export function useGroups(): Query<Groups> {
  return useQuery(KEY, readGroups, { on: ['group'] });
}

export function reloadGroups(): void {
  invalidate((key) => key === KEY);
}

async function readGroups(signal: AbortSignal): Promise<Groups> {
  const groups: { readonly id: number; readonly name: string }[] = [];
  let total: number | null = null;
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const query = { limit: PAGE_SIZE, page };
    const found = await pageOf(api.GET('/v1/check-groups', { params: { query }, signal }));
    groups.push(...found.entries.map(({ id, name }) => ({ id, name })));
    ({ total } = found);
    if (found.entries.length < PAGE_SIZE) break;
  }
  const isWhole = total === null ? groups.length < MAX_GROUPS : total <= groups.length;
  return {
    groups,
    limitNote: isWhole
      ? null
      : `Only the ${count(groups.length)} oldest groups are read${total === null ? '' : `, of ${count(total)}`}.`,
  };
}
