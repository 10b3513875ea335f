import { api, bodyOf, pageOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { invalidate, useQuery } from '../../api/query.ts';

export type Variable = components['schemas']['Variable'];
export type VariableUse = Awaited<ReturnType<typeof readUses>>['uses'][number];

const PAGE_SIZE = 100;
/** An account has at most 2,000. */
const MAX_PAGES = 20;

/** Reads all variables, so that the search of the page finds each of them. */
async function readVariables(signal: AbortSignal): Promise<readonly Variable[]> {
  const all: Variable[] = [];
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const query = { limit: PAGE_SIZE, page };
    const { entries } = await pageOf(api.GET('/v1/variables', { params: { query }, signal }));
    all.push(...entries);
    if (entries.length < PAGE_SIZE) break;
  }
  return all;
}

export function useVariables() {
  return useQuery('variables', readVariables);
}

function readUses(signal: AbortSignal) {
  return bodyOf(api.GET('/v1/variable-uses', { signal }));
}

/** Not read after each change of a check: the service reads all checks, which takes a second for 10,000. */
export function useVariableUses() {
  return useQuery('variable-uses', readUses);
}

/** All checks of one variable; `readUses` names only the first ones. */
export function useUsesOf(key: string) {
  return useQuery(`variable-uses?key=${key}`, async (signal) => {
    const params = { query: { key } };
    const { uses } = await bodyOf(api.GET('/v1/variable-uses', { params, signal }));
    return uses[0] ?? null;
  });
}

export function reloadVariables(): void {
  invalidate((key) => key.startsWith('variable'));
}
