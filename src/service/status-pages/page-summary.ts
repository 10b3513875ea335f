import type { ServiceState } from '../../model/incident/status-page-incident.ts';
import type { Store } from '../database/store.ts';
import { notFound } from '../errors.ts';
import { openIncidentsOfPage, type StoredPageIncident } from '../incidents/shared.sql.ts';
import { findPage } from './sql.ts';
import type { PageStates, ServiceCondition } from './state/page-state.ts';

/** The state of the services of a page. */
export interface PageSummary {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  /** The worst of its services. */
  readonly state: ServiceState;
  readonly cards: readonly {
    readonly id: string;
    readonly name: string;
    readonly services: readonly {
      readonly id: string;
      readonly name: string;
      readonly state: ServiceState;
    }[];
  }[];
  /** The newest open incidents, at most MAX_INCIDENTS, each with its first update. */
  readonly incidents: readonly StoredPageIncident[];
}

export interface StatusPageSummaries {
  read(accountId: string, pageId: string): Promise<PageSummary>;
}

const MAX_INCIDENTS = 100;

export function createStatusPageSummaries({
  store,
  pageStates,
}: {
  readonly store: Store;
  readonly pageStates: Pick<PageStates, 'conditions'>;
}): StatusPageSummaries {
  return {
    async read(accountId, pageId) {
      const page = await findPage(store, { accountId, id: pageId });
      const found = await pageStates.conditions({ accountId, id: pageId });
      if (page === null || found === null) throw notFound('status page');
      const incidents = await openIncidentsOfPage(store, {
        accountId,
        pageId,
        limit: MAX_INCIDENTS,
      });
      const cards = page.cards.map(({ id, name, services }) => ({
        id,
        name,
        services: services.map((service) => ({
          id: service.id,
          name: service.name,
          state: stateOf(found.services.get(service.id) ?? 'UNKNOWN'),
        })),
      }));
      const { name, url } = page.fields;
      return { id: page.id, name, url, state: stateOf(found.condition), cards, incidents };
    },
  };
}

/**
 * Clients know four states. Neither maintenance nor a service that nobody measures is an outage, so they see
 * it as OPERATIONAL.
 */
function stateOf(condition: ServiceCondition): ServiceState {
  return condition === 'MAINTENANCE' || condition === 'UNKNOWN' ? 'OPERATIONAL' : condition;
}
