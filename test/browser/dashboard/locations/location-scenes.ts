import { PollingAgent } from '../../../support/service/polling-agent.ts';
import type { DashboardAccount, DashboardService } from '../../support/dashboard-service.ts';
import type { Scene } from '../scenes.ts';

const HEALTH = {
  maxLatenessMs: 4,
  missedSlots: 0,
  spoolRecords: 0,
  spoolBytes: 0,
  spoolOldestMs: null,
};

/** Makes a location with checks; returns its id. */
export async function makeLocation(
  account: DashboardAccount,
  slug: string,
  name: string,
  checks = 0,
): Promise<string> {
  const { json } = await account.post('/v1/private-locations', { slug, name });
  for (let number = 1; number <= checks; number += 1) {
    await account.post('/v1/checks/url', {
      name: `${name} ${number}`,
      frequency: 1,
      privateLocations: [slug],
      request: { url: `https://shop-${number}.example.com/health` },
    });
  }
  return json.id;
}

/** An agent that polls once, as a real one would; its lease lasts some seconds. */
export async function poll(
  { features }: DashboardService,
  { accountId }: DashboardAccount,
  locationId: string,
  id: string,
  reports: Parameters<PollingAgent['ask']>[0] = {},
): Promise<PollingAgent> {
  const agent = new PollingAgent(features.agents, { accountId, locationId, keyId: 'key' }, id);
  await agent.ask({ version: '0.1.0', health: HEALTH, clockAheadMs: 3, ...reports });
  return agent;
}

const ids = new Map<string, string>();
const pathOfFirst = ({ accountId }: DashboardAccount): string =>
  `/locations/${ids.get(accountId) ?? ''}`;

/** Leases of scenes do not end while their pictures are taken. */
async function lastLong({ store }: DashboardService, locationId: string): Promise<void> {
  await store.query(
    `update agents set lease_until = now() + interval '1 hour' where location_id = $1`,
    [locationId],
  );
}

async function sayGone(
  { store }: DashboardService,
  locationId: string,
  ago: string,
): Promise<void> {
  await store.query(
    `update agents set lease_until = null, last_seen_at = now() - $2::interval,
       first_seen_at = first_seen_at - interval '40 days' where location_id = $1`,
    [locationId, ago],
  );
}

/** The pages of locations. */
export const LOCATION_SCENES: readonly Scene[] = [
  { name: 'locations-empty', path: '/locations' },
  {
    name: 'locations-many',
    path: '/locations',
    async prepare(account, service) {
      const names = ['Berlin office', 'Frankfurt data centre', 'Kubernetes eu-west', 'Warehouse'];
      for (const [index, name] of names.entries()) {
        const id = await makeLocation(account, `place-${index}`, name, 3 + index * 2);
        const agent = `1f0c2d3e-5a4b-4c6d-8e7f-0000000000${index}0`;
        const reports = index === 1 ? { clockAheadMs: -74_000 } : { clockAheadMs: index };
        await poll(service, account, id, agent, reports);
        if (index < 3) {
          await poll(service, account, id, agent.replace('1f', '2f'), { version: '0.2.0' });
        }
        if (index === 3) await sayGone(service, id, '47 minutes');
        else await lastLong(service, id);
      }
      await makeLocation(
        account,
        'a-location-with-a-rather-long-slug-that-somebody-made-by-a-script-for-every-cluster',
        'A location with a rather long name that somebody made by a script, for every cluster of the company',
      );
    },
  },
  {
    name: 'location-new',
    path: pathOfFirst,
    async prepare(account) {
      ids.set(account.accountId, await makeLocation(account, 'office', 'Berlin office'));
    },
    async act({ page }) {
      // A location has two active keys at most, and there are four pictures.
      for (const name of [/^Delete key/, 'Delete the key']) {
        const button = page.getByRole('button', { name }).first();
        if (await button.isVisible()) await button.click();
      }
      await page.getByRole('button', { name: 'Create a key' }).first().click();
      await page.getByText('it is not shown again').waitFor();
    },
  },
  {
    name: 'location-online',
    path: pathOfFirst,
    async prepare(account, service) {
      const id = await makeLocation(account, 'frankfurt', 'Frankfurt data centre', 6);
      ids.set(account.accountId, id);
      await account.post(`/v1/private-locations/${id}/keys`);
      await account.post(`/v1/private-locations/${id}/keys`);
      await poll(service, account, id, '8c1d9a52-77aa-4b1f-9a3e-2f7f1c0a9b11');
      await poll(service, account, id, 'f3a0b7de-10c4-4f0a-8f5d-6b1a7e3d2c44', {
        clockAheadMs: -74_000,
        health: {
          maxLatenessMs: 2_310,
          missedSlots: 14,
          spoolRecords: 1_288,
          spoolBytes: 4_300_000,
          spoolOldestMs: 905_000,
        },
      });
      // An agent of an earlier release.
      await poll(service, account, id, 'old', { clockAheadMs: null, health: null });
      await lastLong(service, id);
    },
  },
  {
    name: 'location-silent',
    path: pathOfFirst,
    async prepare(account, service) {
      const id = await makeLocation(account, 'warehouse', 'Warehouse', 4);
      ids.set(account.accountId, id);
      await poll(service, account, id, '8c1d9a52-77aa-4b1f-9a3e-2f7f1c0a9b11');
      await sayGone(service, id, '47 minutes');
    },
  },
];
