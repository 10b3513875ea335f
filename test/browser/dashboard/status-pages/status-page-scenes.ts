import { makePage, prepareIncidents } from '../incidents/incident-scenes.ts';
import { fail, type Scene } from '../scenes.ts';

export const STATUS_PAGE_SCENES: readonly Scene[] = [
  { name: 'status-pages-empty', path: '/status-pages' },
  {
    name: 'status-pages-new',
    path: '/status-pages',
    act: async ({ page }) => {
      await page.getByRole('button', { name: 'New page' }).click();
      await page.getByLabel('Name', { exact: true }).fill('Acme status');
    },
  },
  {
    name: 'status-pages-error',
    path: '/status-pages',
    act: async ({ page }) => {
      await fail(page, /\/v1\/status-pages/);
      await page.reload();
      await page.getByRole('alert').waitFor();
    },
  },
  {
    name: 'status-pages',
    path: '/status-pages',
    prepare: async (account, service) => void (await makePage(account, service)),
  },
  {
    name: 'status-pages-one',
    path: '/status-pages',
    prepare: prepareIncidents,
    act: async ({ page }) => {
      await page.getByRole('link', { name: 'Acme status' }).click();
      await page.getByRole('heading', { level: 1, name: 'Acme status' }).waitFor();
      await page.getByRole('region', { name: 'Preview' }).getByText('outage').first().waitFor();
    },
  },
];
