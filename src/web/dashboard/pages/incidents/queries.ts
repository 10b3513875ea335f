import { api, pageOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { invalidate, type Query, useQuery } from '../../api/query.ts';
import type { Loaded } from '../../parts/forms/use-saving.ts';
import { PAGE_SIZE, useList } from '../../parts/lists/use-list.ts';

export type Incident = components['schemas']['StatusPageIncident'];
export type IncidentUpdate = Incident['incidentUpdates'][number];
export type Status = Incident['lastUpdateStatus'];
export type Severity = Incident['severity'];
export type Service = components['schemas']['StatusPageService'];

export function forgetIncidents(): void {
  invalidate((key) => key.startsWith('incident'));
}

/** The newest first. */
export function useIncidents(state: 'open' | 'resolved') {
  return useList<Incident>(
    `incidents ${state}`,
    (page, signal) => {
      const query = { state, sort: '-created_at' as const, limit: PAGE_SIZE, page };
      return pageOf(api.GET('/v1/status-pages/incidents', { params: { query }, signal }));
    },
    { on: ['incident'] },
  );
}

/** With all of its updates. */
export function useIncident(id: string): Query<Loaded<Incident>> {
  return useQuery(
    `incident ${id}`,
    async (signal) => {
      const { data, response } = await api.GET('/v1/status-pages/incidents/{incidentId}', {
        params: { path: { incidentId: id }, query: { includeAllIncidentUpdates: true } },
        signal,
      });
      return { resource: data as Incident, etag: response.headers.get('etag') };
    },
    { on: ['incident'], concerns: ({ resourceId }) => resourceId === id },
  );
}

const MAX_PAGES = 10;

/** Services by their ids, in the order of their names. */
export function useServices(): Query<ReadonlyMap<string, Service>> {
  return useQuery(
    'status page services',
    async (signal) => {
      const all: Service[] = [];
      for (let page = 1; page <= MAX_PAGES; page += 1) {
        const query = { limit: 100, page };
        const { entries } = await pageOf(
          api.GET('/v1/status-pages/services', { params: { query }, signal }),
        );
        all.push(...entries);
        if (entries.length < 100) break;
      }
      all.sort((one, other) => one.name.localeCompare(other.name));
      return new Map(all.map((service) => [service.id, service]));
    },
    { on: ['status_page_service'] },
  );
}

/** The possible receivers of notifications of an incident. */
export interface Audience {
  /** The pages that show the incident. */
  readonly pages: readonly { readonly id: string; readonly name: string }[];
  /** The most subscribers who may be notified: some may follow other services only. */
  readonly subscribers: number;
  /** Whether there are more pages than were counted. */
  readonly isMore: boolean;
}

/** The receivers of an update of an incident with these services. */
export function useAudience(services: readonly string[]): Query<Audience> {
  const wanted = new Set(services);
  return useQuery(
    `incident audience ${services.join(' ')}`,
    async (signal) => {
      const { entries } = await pageOf(
        api.GET('/v1/status-pages', { params: { query: { limit: 100 } }, signal }),
      );
      const pages = entries
        .filter(({ cards }) => cards.some((card) => card.services.some(({ id }) => wanted.has(id))))
        .map(({ id, name }) => ({ id, name }));
      const counted = pages.slice(0, MAX_PAGES);
      const totals = await Promise.all(
        counted.map(async ({ id: statusPageId }) => {
          const { total, entries } = await pageOf(
            api.GET('/v1/status-pages/{statusPageId}/subscribers', {
              params: { path: { statusPageId }, query: { limit: 1 } },
              signal,
            }),
          );
          return total ?? entries.length;
        }),
      );
      const subscribers = totals.reduce((sum, each) => sum + each, 0);
      return { pages, subscribers, isMore: pages.length > counted.length };
    },
    { on: ['status_page'] },
  );
}
