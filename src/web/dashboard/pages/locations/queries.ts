import { api, bodyOf, pageOf } from '../../api/client.ts';
import type { components, paths } from '../../api/openapi.d.ts';
import { type Query, useQuery } from '../../api/query.ts';

export type LocationStatus = components['schemas']['PrivateLocationStatus'];
export type LocationKey = components['schemas']['LocationKey'];
export type PrivateLocation =
  paths['/v1/private-locations/{id}']['get']['responses']['200']['content']['application/json'];
export type Agent =
  paths['/v1/private-locations/{id}/agents']['get']['responses']['200']['content']['application/json'][number];
export type AgentError =
  paths['/v1/private-locations/{id}/agent-errors']['get']['responses']['200']['content']['application/json'][number];

/** The most entries to read; the API has all of them. */
export const MAX_SHOWN = 100;

/** Polls of agents have no events. */
export const REPORT_MS = 10_000;

interface Listed<Entry> {
  readonly entries: readonly Entry[];
  readonly total: number;
}

const listed = <Entry>({
  entries,
  total,
}: {
  readonly entries: readonly Entry[];
  readonly total: number | null;
}): Listed<Entry> => ({ entries, total: total ?? entries.length });

const ofLocation = (id: string) => ({
  on: ['location'],
  concerns: ({ resourceId }: { readonly resourceId: string }) => resourceId === id,
});

export function useLocationStatuses(pages: number): Query<Listed<LocationStatus>> {
  return useQuery(
    `private-location-statuses?pages=${pages}`,
    async (signal) => {
      const found: LocationStatus[] = [];
      let total = 0;
      for (let page = 1; page <= pages; page += 1) {
        const query = { limit: 100, page };
        const part = await pageOf(
          api.GET('/v1/private-location-statuses', { params: { query }, signal }),
        );
        found.push(...part.entries);
        total = part.total ?? found.length;
        if (part.entries.length < 100) break;
      }
      return { entries: found, total };
    },
    { on: ['location', 'check.created', 'check.deleted'] },
  );
}

export function useLocation(id: string): Query<PrivateLocation> {
  return useQuery(
    `private-locations/${id}`,
    (signal) => bodyOf(api.GET('/v1/private-locations/{id}', { params: { path: { id } }, signal })),
    ofLocation(id),
  );
}

export function useLocationStatus(id: string): Query<LocationStatus> {
  return useQuery(
    `private-location-statuses/${id}`,
    (signal) =>
      bodyOf(api.GET('/v1/private-location-statuses/{id}', { params: { path: { id } }, signal })),
    ofLocation(id),
  );
}

/** The latest polls come first: in a location with many agents, those that no longer poll are omitted. */
export function useAgents(id: string): Query<Listed<Agent>> {
  return useQuery(
    `private-locations/${id}/agents`,
    async (signal) => {
      const agents: Agent[] = [];
      let total = 0;
      // A location has at most 1,100 agents: 100 that poll and 1,000 that no longer do.
      for (let page = 1; page <= 11; page += 1) {
        const params = { path: { id }, query: { limit: 100, page } };
        const part = await pageOf(api.GET('/v1/private-locations/{id}/agents', { params, signal }));
        agents.push(...part.entries);
        total = part.total ?? agents.length;
        if (part.entries.length < 100) break;
      }
      agents.sort(
        (one, other) =>
          Number(other.live) - Number(one.live) || other.lastSeen.localeCompare(one.lastSeen),
      );
      return { entries: agents, total };
    },
    ofLocation(id),
  );
}

export function useKeys(id: string): Query<Listed<LocationKey>> {
  return useQuery(
    `private-locations/${id}/keys`,
    async (signal) => {
      const params = { path: { id }, query: { limit: MAX_SHOWN } };
      return listed(await pageOf(api.GET('/v1/private-locations/{id}/keys', { params, signal })));
    },
    ofLocation(id),
  );
}

export function useAgentErrors(id: string): Query<Listed<AgentError>> {
  return useQuery(
    `private-locations/${id}/agent-errors`,
    async (signal) => {
      const params = { path: { id }, query: { limit: 20 } };
      return listed(
        await pageOf(api.GET('/v1/private-locations/{id}/agent-errors', { params, signal })),
      );
    },
    ofLocation(id),
  );
}
