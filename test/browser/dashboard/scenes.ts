import type { Page } from 'playwright-core';
import type {
  DashboardAccount,
  DashboardService,
  OpenDashboard,
} from '../support/dashboard-service.ts';
import { addSampleChecks, addSampleLocation } from '../support/sample-account.ts';
import { ALERTING_SCENES } from './alerting/alerting-scenes.ts';
import { CERTIFICATE_SCENES } from './certificates/certificate-scenes.ts';
import { CHECK_SCENES } from './check/check-scenes.ts';
import { EDITING_SCENES } from './editing/editing-scenes.ts';
import { FINDING_SCENES } from './findings/finding-scenes.ts';
import { GUEST_SCENES } from './guest-scenes.ts';
import { HEARTBEAT_SCENES } from './heartbeats/heartbeat-scenes.ts';
import { INCIDENT_SCENES } from './incidents/incident-scenes.ts';
import { LOCATION_SCENES } from './locations/location-scenes.ts';
import { MAINTENANCE_SCENES } from './maintenance/maintenance-scenes.ts';
import { addBadDay, addManyChecks, addQuietChecks } from './overview/overview-samples.ts';
import { REPORT_SCENES } from './reports/report-scenes.ts';
import { SETTINGS_SCENES } from './settings/settings-scenes.ts';
import { SNIPPET_SCENES } from './snippets/snippet-scenes.ts';
import { STATUS_PAGE_SCENES } from './status-pages/status-page-scenes.ts';
import { VARIABLE_SCENES } from './variables/variable-scenes.ts';

/** A view of the dashboard that `npm run screenshots` makes pictures of. */
export interface Scene {
  /** Begins the names of its files. */
  readonly name: string;
  readonly path: string | ((account: DashboardAccount) => string);
  /** Makes what the account has. Default: nothing. */
  readonly prepare?: (account: DashboardAccount, service: DashboardService) => Promise<void>;
  /** Opened without a session. */
  readonly isGuest?: boolean;
  /** The actions of a reader before the picture. */
  readonly act?: (opened: OpenDashboard, account: DashboardAccount) => Promise<void>;
}

/** Lets a part of the API fail, as it does while its database is away. */
export async function fail(page: Page, part: RegExp): Promise<void> {
  const json = { statusCode: 503, error: 'Service Unavailable', message: 'The database is away' };
  const headers = { 'x-request-id': '3f0c7c1a-8d52-4d0e-9a54-6d2f0c1b7e11' };
  await page.route(part, (route) => route.fulfill({ status: 503, headers, json }));
}

/** One line or more for each page. Scenes have an account of their own. */
export const SCENES: readonly Scene[] = [
  { name: 'overview-empty', path: '/' },
  ...ALERTING_SCENES,
  ...CHECK_SCENES,
  ...HEARTBEAT_SCENES,
  ...EDITING_SCENES,
  ...INCIDENT_SCENES,
  ...MAINTENANCE_SCENES,
  ...STATUS_PAGE_SCENES,
  ...LOCATION_SCENES,
  ...CERTIFICATE_SCENES,
  ...FINDING_SCENES,
  ...REPORT_SCENES,
  ...SNIPPET_SCENES,
  ...VARIABLE_SCENES,
  ...SETTINGS_SCENES,
  ...GUEST_SCENES,
  {
    name: 'overview-40',
    path: '/',
    prepare: async (account, service) => {
      await addBadDay(account, service);
      await account.post('/v1/alert-channels', {
        type: 'EMAIL',
        config: { address: 'on-call@example.com' },
      });
    },
  },
  {
    name: 'overview-grouped',
    path: '/?group-by=tag&open=shop',
    prepare: addBadDay,
  },
  { name: 'overview-quiet', path: '/', prepare: addQuietChecks },
  { name: 'check-acknowledged', path: '/checks/orders', prepare: addQuietChecks },
  { name: 'check-in-maintenance', path: '/checks/replica', prepare: addQuietChecks },
  { name: 'overview-groups-empty', path: '/?group-by=group' },
  {
    name: 'overview-groups',
    path: '/?group-by=group&open-rest=true',
    prepare: async (account, service) => {
      await addQuietChecks(account, service);
      for (const name of ['Shop', 'A group with a name that is much longer than a narrow window'])
        await account.post('/v1/check-groups', { name });
    },
    act: async ({ page }) => await page.getByText('Groups without checks').waitFor(),
  },
  {
    name: 'overview-groups-error',
    path: '/?group-by=group',
    prepare: addBadDay,
    act: async ({ page }) => {
      await fail(page, /\/v1\/check-groups/);
      await page.reload();
      await page.getByText('The groups without checks could not be read').waitFor();
    },
  },
  {
    name: 'overview-group-new',
    path: '/?group-by=group',
    act: async ({ page }) => await page.getByRole('button', { name: 'New group' }).click(),
  },
  {
    name: 'overview-group-edit',
    path: '/?group-by=group',
    prepare: addBadDay,
    act: async ({ page }) => {
      await page.getByRole('button', { name: 'Edit group Shop' }).click();
      await page.getByRole('button', { name: 'Delete the group…' }).waitFor();
    },
  },
  {
    name: 'overview-group-delete',
    path: '/?group-by=group',
    prepare: addBadDay,
    act: async ({ page }) => {
      await page.getByRole('button', { name: 'Edit group Shop' }).click();
      await page.getByRole('button', { name: 'Delete the group…' }).click();
      await page.getByRole('heading', { name: 'Delete the group Shop' }).waitFor();
    },
  },
  {
    name: 'check-one-run',
    path: '/checks/single',
    prepare: async (account, service) => {
      const office = await addSampleLocation(account, service, 'office');
      await addSampleChecks(account, service, office, [
        { id: 'single', name: 'Ran once', cells: 'p' },
      ]);
    },
    act: async ({ page }) => await page.locator('.check-chart canvas').first().waitFor(),
  },
  {
    name: 'overview-10000',
    path: '/',
    prepare: (account, service) => addManyChecks(account, service, 10_000),
  },
  {
    name: 'overview-selected',
    path: '/?search=e',
    prepare: addBadDay,
    act: async ({ page }) => {
      for (const name of ['Select Orders API', 'Select Search']) {
        await page.getByRole('checkbox', { name, exact: true }).check();
      }
    },
  },
  { name: 'overview-nothing-found', path: '/?search=nothing', prepare: addBadDay },
  {
    name: 'overview-menu',
    path: '/',
    prepare: addBadDay,
    act: async ({ page }) => {
      await page.getByRole('button', { name: 'Tag: any' }).click();
      await page.getByRole('menuitemradio', { name: 'production' }).waitFor();
    },
  },
  {
    name: 'overview-menu-error',
    path: '/',
    act: async ({ page }) => {
      await fail(page, /\/v1\/check-state-breakdown/);
      await page.getByRole('button', { name: 'Tag: any' }).click();
      await page.getByText('could not be read').waitFor();
    },
  },
  {
    name: 'shell-drawer',
    path: '/locations',
    act: async ({ page }) => {
      await page.setViewportSize({ width: 360, height: 900 });
      await page.getByRole('button', { name: 'Menu', exact: true }).click();
    },
  },
  {
    name: 'shell-user-menu',
    path: '/locations',
    act: async ({ page }) => await page.getByRole('button', { name: /^Acme|mira\.roth/ }).click(),
  },
  {
    name: 'overview-error',
    path: '/',
    act: async ({ page }) => {
      await fail(page, /\/v1\/check-s/);
      await page.reload();
      await page.getByRole('alert').waitFor();
    },
  },
];
