import { api, bodyOf, pageOf } from '../../api/client.ts';
import type { operations } from '../../api/openapi.d.ts';
import { invalidate, useQuery } from '../../api/query.ts';
import { PAGE_SIZE, useList } from '../../parts/lists/use-list.ts';

type Listed<Name extends 'listErrorGroups' | 'listTestSessions' | 'listRootCauseAnalyses'> =
  operations[Name]['responses'][200]['content']['application/json'][number];
export type ErrorGroup = Listed<'listErrorGroups'>;
export type TestSession = Listed<'listTestSessions'>;
export type RootCauseAnalysis = Listed<'listRootCauseAnalyses'>;

/** Runs change these lists, but only changes of the state of a check have events. */
const ON = { on: ['check.status_changed'] };

export function useErrorGroups(archived: boolean, checkId: string | null) {
  return useList<ErrorGroup>(
    `error-groups?${JSON.stringify({ archived, checkId })}`,
    (page, signal) => {
      const query = { limit: PAGE_SIZE, page, archived, ...(checkId === null ? {} : { checkId }) };
      return pageOf(api.GET('/v1/error-groups', { params: { query }, signal }));
    },
    ON,
  );
}

export function useOccurrences(id: string) {
  return useQuery(`error-group-occurrences/${id}`, (signal) =>
    bodyOf(api.GET('/v1/error-groups/{id}/occurrences', { params: { path: { id } }, signal })),
  );
}

/** Archives a group until it occurs again or forever, or restores it. */
export async function archive(id: string, how: 'until-next' | 'for-ever' | 'none'): Promise<void> {
  const body =
    how === 'for-ever'
      ? { archiveForEver: true }
      : { archivedUntilNextEvent: how === 'until-next' };
  await api.PATCH('/v1/error-groups/{id}', { params: { path: { id } }, body });
  invalidate((key) => key.startsWith('error-groups?'));
}

export function useTestSessions() {
  return useList<TestSession>('test-sessions', (page, signal) => {
    const query = { limit: PAGE_SIZE, page };
    return pageOf(api.GET('/v1/test-sessions', { params: { query }, signal }));
  });
}

export function useTestSession(id: string) {
  return useQuery(`test-session/${id}`, (signal) =>
    bodyOf(api.GET('/v1/test-sessions/{id}', { params: { path: { id } }, signal })),
  );
}

/** The failed ones first. */
export function useSessionResults(id: string, hasFailures: boolean) {
  return useList(`test-session/${id}/results?${hasFailures}`, (page, signal) => {
    const params = { path: { id }, query: { limit: PAGE_SIZE, page, hasFailures } };
    return pageOf(api.GET('/v1/test-sessions/{id}/results', { params, signal }));
  });
}

export function useAnalyses(checkId: string | null, errorGroupId: string | null) {
  return useList<RootCauseAnalysis>(
    `analyses?${JSON.stringify({ checkId, errorGroupId })}`,
    (page, signal) => {
      const query = {
        limit: PAGE_SIZE,
        page,
        ...(checkId === null ? {} : { checkId }),
        ...(errorGroupId === null ? {} : { errorGroupId }),
      };
      return pageOf(api.GET('/v1/root-cause-analyses', { params: { query }, signal }));
    },
    ON,
  );
}

/** Null while the analysis is in progress. */
export function useAnalysis(id: string) {
  return useQuery(`analysis/${id}`, async (signal): Promise<RootCauseAnalysis | null> => {
    const params = { path: { id } };
    const found = await bodyOf(api.GET('/v1/root-cause-analyses/{id}', { params, signal }));
    return found.status === 'COMPLETED' ? (found as RootCauseAnalysis) : null;
  });
}

/** `CONNECTION_FAILURE` becomes `Connection failure`. */
export function wordsOf(classification: string): string {
  const words = classification.toLowerCase().replaceAll('_', ' ');
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
