import { Counter, Gauge, type Registry } from 'prom-client';
import type { ServiceCounts } from './service-counts.ts';

/** The source of the metrics at each scrape. */
interface Counts {
  readonly states: ServiceCounts;
  readonly alertDeliveries: Readonly<Record<'sent' | 'failed', number>>;
  readonly alertRepeats: Readonly<Record<'sent' | 'failed', number>>;
}

/** Adds the metrics of the accounts' checks, agents and notifications. */
export function addStateMetrics(registry: Registry, counts: () => Counts): void {
  const registers = [registry];
  new Gauge({
    name: 'vedette_service_checks',
    help: 'Checks of all accounts by state: failing, degraded, unknown, passing, paused; the same in each replica, read every 30 s while they are scraped.',
    labelNames: ['state'],
    registers,
    collect() {
      for (const [state, count] of Object.entries(counts().states.checks ?? {})) {
        this.set({ state }, count);
      }
    },
  });
  new Gauge({
    name: 'vedette_service_agents_live',
    help: 'Agents that hold a lease, by private location, of the 1,000 oldest; the same in each replica, read every 30 s while they are scraped.',
    labelNames: ['account_id', 'location'],
    registers,
    collect() {
      this.reset();
      for (const { accountId, location, agents } of counts().states.agents) {
        this.set({ account_id: accountId, location }, agents);
      }
    },
  });
  new Gauge({
    name: 'vedette_service_locations_left_out',
    help: 'Private locations that vedette_service_agents_live lacks because there are too many.',
    registers,
    collect() {
      this.set(counts().states.locationsLeftOut);
    },
  });
  addResults(
    registers,
    'vedette_service_alert_deliveries_total',
    'Notifications of alert channels that this replica finished, by result: sent, or failed after the last retry. Without those of vedette_service_alert_repeats_total.',
    () => counts().alertDeliveries,
  );
  addResults(
    registers,
    'vedette_service_alert_repeats_total',
    'Open alerts that this replica sent to Alertmanager again, by result: sent, or failed after the last retry.',
    () => counts().alertRepeats,
  );
}

function addResults(
  registers: Registry[],
  name: string,
  help: string,
  results: () => Readonly<Record<'sent' | 'failed', number>>,
): void {
  new Counter({
    name,
    help,
    labelNames: ['result'],
    registers,
    collect() {
      this.reset();
      for (const [result, count] of Object.entries(results())) this.inc({ result }, count);
    },
  });
}
