import { api, bodyOf, pageOf } from '../../api/client.ts';
import type { components, operations } from '../../api/openapi.d.ts';
import { invalidate, type Query, useQuery } from '../../api/query.ts';
import type { Loaded } from '../../parts/forms/use-saving.ts';
import { PAGE_SIZE, type Part, useList } from '../../parts/lists/use-list.ts';

export type Heartbeat = components['schemas']['HeartbeatCheck'];
export type HeartbeatStatus =
  operations['listCheckStatuses']['responses'][200]['content']['application/json'][number];
export type HeartbeatEvent = components['schemas']['HeartbeatEvent'];
export type HeartbeatFilter = Pick<
  NonNullable<operations['listCheckStatuses']['parameters']['query']>,
  'search' | 'state'
>;

/** Pings have no events: they are read again at this interval. */
export const REFRESH_MS = 10_000;

const ON = ['check', 'group', 'alert', 'maintenance_window'];

export function forgetHeartbeats(): void {
  invalidate((key) => key.startsWith('heartbeat'));
}

/** The late ones first. */
export function useStatuses(filter: HeartbeatFilter): {
  readonly query: Query<Part<HeartbeatStatus>>;
  readonly more: () => void;
} {
  return useList<HeartbeatStatus>(
    `heartbeat statuses ${JSON.stringify(filter)}`,
    (page, signal) => {
      const query = { ...filter, type: ['HEARTBEAT' as const], limit: PAGE_SIZE, page };
      return pageOf(api.GET('/v1/check-statuses', { params: { query }, signal }));
    },
    { on: ON },
  );
}

export function useCounts() {
  const query = { type: ['HEARTBEAT' as const] };
  return useQuery(
    'heartbeat counts',
    (signal) => bodyOf(api.GET('/v1/check-state-counts', { params: { query }, signal })),
    { on: ON },
  );
}

const concerns =
  (id: string) =>
  ({ resourceId }: { readonly resourceId: string | null }): boolean =>
    resourceId === id;

export function useHeartbeat(id: string): Query<Loaded<Heartbeat>> {
  return useQuery(
    `heartbeat ${id}`,
    async (signal) => {
      const { data, response } = await api.GET('/v1/checks/heartbeats/{id}', {
        params: { path: { id } },
        signal,
      });
      return { resource: data as Heartbeat, etag: response.headers.get('etag') };
    },
    { on: ['check.updated', 'check.deleted'], concerns: concerns(id) },
  );
}

/** Null before its first ping. */
export function useStatus(id: string): Query<{ readonly status: HeartbeatStatus | null }> {
  return useQuery(
    `heartbeat status ${id}`,
    async (signal) => ({
      status: await bodyOf(
        api.GET('/v1/check-statuses/{checkId}', { params: { path: { checkId: id } }, signal }),
      ),
    }),
    {
      on: ON,
      concerns: ({ kind, resourceId, data }) => {
        if (kind.startsWith('alert.')) return data.checkId === id;
        return !kind.startsWith('check.') || resourceId === id;
      },
    },
  );
}

const EVENTS_PER_PAGE = 20;

/** Newest first. */
export function useEvents(id: string, pages: number) {
  return useQuery(
    `heartbeat events ${id} ${pages}`,
    async (signal) => {
      const entries: HeartbeatEvent[] = [];
      for (let page = 1; page <= pages; page += 1) {
        const query = { limit: EVENTS_PER_PAGE, page };
        const path = { checkId: id };
        const listed = await bodyOf(
          api.GET('/v1/checks/heartbeats/{checkId}/events', { params: { path, query }, signal }),
        );
        entries.push(...listed);
        if (listed.length < EVENTS_PER_PAGE) break;
      }
      return { entries, hasMore: entries.length === pages * EVENTS_PER_PAGE };
    },
    { on: ['check.status_changed'], concerns: concerns(id) },
  );
}
