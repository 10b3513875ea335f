import {
  type ServiceState,
  stateUnder,
  worstOf,
} from '../../model/status-page/status-page-incident.ts';
import type { Store } from '../database/store.ts';
import { notFound } from '../errors.ts';
import {
  openIncidentsOfPage,
  type StoredPageIncident,
  severitiesOfPage,
} from '../incidents/shared.sql.ts';
import { findPage } from './sql.ts';

/** The state of the services of a page, by their open incidents. */
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
}: {
  readonly store: Store;
}): StatusPageSummaries {
  return {
    async read(accountId, pageId) {
      const page = await findPage(store, { accountId, id: pageId });
      if (page === null) throw notFound('status page');
      const severities = await severitiesOfPage(store, { accountId, pageId });
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
          state: stateUnder(severities.get(service.id) ?? []),
        })),
      }));
      const states = cards.flatMap(({ services }) => services.map(({ state }) => state));
      const { name, url } = page.fields;
      return { id: page.id, name, url, state: worstOf(states), cards, incidents };
    },
  };
}
