import { api, bodyOf, pageOf } from '../../api/client.ts';
import type { components, operations } from '../../api/openapi.d.ts';
import { invalidate, type Query, useQuery } from '../../api/query.ts';
import type { Loaded } from '../../parts/forms/use-saving.ts';
import { PART, useList } from '../../parts/lists/use-list.ts';
import { basePath } from '../../shell/base-path.ts';

export type StatusPage = components['schemas']['StatusPage'];
export type Changes = NonNullable<
  operations['updateStatusPage']['requestBody']
>['content']['application/json'];
export type Summary =
  operations['getStatusPageSummary']['responses'][200]['content']['application/json'];

const ON = ['status_page', 'status_page_service'];

export function forgetPages(): void {
  invalidate((key) => key.startsWith('status page'));
}

export function usePages() {
  return useList<StatusPage>(
    'status pages',
    (page, signal) =>
      pageOf(api.GET('/v1/status-pages', { params: { query: { limit: PART, page } }, signal })),
    { on: ON },
  );
}

export function usePage(id: string): Query<Loaded<StatusPage>> {
  return useQuery(
    `status page ${id}`,
    async (signal) => {
      const { data, response } = await api.GET('/v1/status-pages/{statusPageId}', {
        params: { path: { statusPageId: id } },
        signal,
      });
      return { resource: data as StatusPage, etag: response.headers.get('etag') };
    },
    { on: ON },
  );
}

/** The state of its services as readers see it now. */
export function useSummary(id: string): Query<Summary> {
  return useQuery(
    `status page summary ${id}`,
    (signal) =>
      bodyOf(
        api.GET('/v1/status-pages/{statusPageId}/summary', {
          params: { path: { statusPageId: id } },
          signal,
        }),
      ),
    { on: [...ON, 'incident', 'check.status_changed'] },
  );
}

/** How many people and programs follow the page. */
export function useSubscribers(id: string) {
  return useQuery(`status page subscribers ${id}`, (signal) =>
    pageOf(
      api.GET('/v1/status-pages/{statusPageId}/subscribers', {
        params: { path: { statusPageId: id }, query: { limit: 100 } },
        signal,
      }),
    ),
  );
}

/** Where readers open it at the address of the service. */
export function publicPath({ url }: Pick<StatusPage, 'url'>): string {
  return `${basePath}/status/${url}`;
}
