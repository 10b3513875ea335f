import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { LACKING } from '../support/browser.ts';
import { useDashboard } from '../support/dashboard.ts';
import type { DashboardAccount } from '../support/dashboard-service.ts';
import { addCheck, addLocations, ORDERS } from './check/check-samples.ts';

const MESSAGE = 'The database is not available';

/** Lets a part of the API fail until the returned function is called. */
async function failOnly(page: Page, part: RegExp): Promise<() => Promise<void>> {
  await page.route(part, (route) => route.fulfill({ status: 503, json: { message: MESSAGE } }));
  return () => page.unroute(part);
}

describe.skipIf(LACKING !== null)('a page of which a part cannot be read', () => {
  const { service, newAccount, open } = useDashboard();
  const withCheck = async () => {
    const account = await newAccount();
    await addLocations(account, service(), ['office']);
    await addCheck(account, service(), 'orders', {
      ...ORDERS,
      tags: ['shop'],
      privateLocations: ['office'],
    });
    return account;
  };

  it('says that the state of a check is not known, and shows it after another try', async () => {
    const { page, goto, axe } = await open(await withCheck());
    const succeed = await failOnly(page, /\/v1\/check-statuses\/orders/);
    await goto('/checks/orders');
    const alert = page.getByRole('alert').filter({ hasText: 'The state of the check' });
    await alert.getByText(`could not be read: ${MESSAGE}`).waitFor();
    const header = page.locator('.page-header');
    await header.getByText('Not known').waitFor();
    expect(await axe()).toEqual([]);
    await succeed();
    await alert.getByRole('button', { name: 'Try again' }).click();
    await alert.waitFor({ state: 'detached' });
    await header.getByText('No result yet').waitFor();
  });

  it('says in the menu of a filter that its choices cannot be read, and offers them after another try', async () => {
    const { page, goto, axe } = await open(await withCheck());
    const succeed = await failOnly(page, /\/v1\/check-state-breakdown/);
    await goto('/');
    await page.getByRole('button', { name: 'Tag: any' }).click();
    await page.getByText(`The choices could not be read: ${MESSAGE}`).waitFor();
    expect(await axe()).toEqual([]);
    await succeed();
    await page.getByRole('menuitem', { name: 'Try again' }).click();
    await page.getByRole('menuitemradio', { name: 'shop' }).waitFor();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Tag: shop' }).waitFor();
  });

  it.each([
    {
      path: '/status-pages',
      empty: 'There is no status page yet',
      part: /\/v1\/status-pages/,
      change: ({ accountId, post }: DashboardAccount) =>
        post('/v1/status-pages', { name: 'Acme', url: `acme-${accountId}` }),
    },
    {
      path: '/incidents',
      empty: 'There is no incident',
      part: /\/v1\/status-pages\/incidents/,
      change: ({ post }: DashboardAccount) =>
        post('/v1/status-pages/incidents', {
          name: 'Slow',
          severity: 'MINOR',
          services: [],
          isDraft: true,
          incidentUpdates: [{ status: 'MONITORING', description: 'It may become slow.' }],
        }),
    },
    {
      path: '/alerts',
      empty: 'No open alerts',
      part: /\/v1\/check-alerts/,
      change: ({ post }: DashboardAccount) =>
        post('/v1/checks/heartbeats', {
          name: 'Backup',
          heartbeat: { period: 1, periodUnit: 'HOURS', grace: 5, graceUnit: 'MINUTES' },
        }),
    },
  ])('says that $path could not be read again where it was empty', async (view) => {
    const account = await newAccount();
    const { page, goto } = await open(account);
    await goto(view.path);
    await page.getByText(view.empty).waitFor();
    await page.getByRole('status').filter({ hasText: 'Live' }).filter({ visible: true }).waitFor();
    await failOnly(page, view.part);
    expect((await view.change(account)).status).toBeLessThan(300);
    await page.getByRole('alert').filter({ hasText: MESSAGE }).first().waitFor();
  });

  it('shows as the least what the API does not count further', async () => {
    const account = await newAccount();
    await account.post('/v1/alert-channels', {
      type: 'EMAIL',
      config: { address: 'ops@example.com' },
    });
    const { page, goto } = await open(account);
    await page.route(/\/v1\/alert-channels/, async (route) => {
      const response = await route.fetch();
      const headers = {
        ...response.headers(),
        'x-total-count': '10000',
        'x-total-count-at-least': 'true',
      };
      await route.fulfill({ response, headers });
    });
    await goto('/channels');
    await page.getByText('1 of more than 10,000').waitFor();
  });
});
