import type { ServiceCondition } from '../../../../model/incident/status-page-incident.ts';
import { api, pageOf } from '../../api/client.ts';
import { errorOf } from '../../api/errors.ts';
import type { components, operations } from '../../api/openapi.d.ts';
import { invalidate, type Query, useQuery } from '../../api/query.ts';
import type { Loaded } from '../../parts/forms/use-saving.ts';
import { PAGE_SIZE, useList } from '../../parts/lists/use-list.ts';
import { basePath } from '../../shell/base-path.ts';

export type StatusPage = components['schemas']['StatusPage'];
export type Changes = NonNullable<
  operations['updateStatusPage']['requestBody']
>['content']['application/json'];
export type Subscriber = components['schemas']['StatusPageSubscriber'];

/** The fields of summary.json that are read here. */
interface PublicSummary {
  readonly cards: readonly {
    readonly services: readonly { readonly id: string; readonly condition: ServiceCondition }[];
  }[];
}

const ON = ['status_page', 'status_page_service'];

export function forgetPages(): void {
  invalidate((key) => key.startsWith('status page'));
}

export function usePages() {
  return useList<StatusPage>(
    'status pages',
    (page, signal) =>
      pageOf(
        api.GET('/v1/status-pages', { params: { query: { limit: PAGE_SIZE, page } }, signal }),
      ),
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

/** The current condition of each service, as readers see it. */
export function useConditions(page: StatusPage): Query<ReadonlyMap<string, ServiceCondition>> {
  return useQuery(
    `status page conditions ${page.id} ${page.url}`,
    async (signal) => {
      const response = await fetch(`${publicPath(page)}/summary.json`, { signal });
      if (!response.ok) throw errorOf(response, null);
      const { cards } = (await response.json()) as PublicSummary;
      return new Map(
        cards.flatMap(({ services }) => services.map(({ id, condition }) => [id, condition])),
      );
    },
    { on: [...ON, 'incident', 'maintenance_window', 'check.status_changed'] },
  );
}

/** The subscribers of the page, oldest first. */
export function useSubscribers(id: string) {
  return useList<Subscriber>(`status page subscribers ${id}`, (page, signal) =>
    pageOf(
      api.GET('/v1/status-pages/{statusPageId}/subscribers', {
        params: { path: { statusPageId: id }, query: { limit: PAGE_SIZE, page } },
        signal,
      }),
    ),
  );
}

/** The path of the page at the address of the service. */
export function publicPath({ url }: Pick<StatusPage, 'url'>): string {
  return `${basePath}/status/${url}`;
}
