import type {
  DashboardAccount,
  DashboardService,
  OpenDashboard,
} from '../support/dashboard-service.ts';
import { ALERTING_SCENES } from './alerting-scenes.ts';
import { CHECK_SCENES } from './check-scenes.ts';
import { EDITING_SCENES } from './editing-scenes.ts';
import { LOCATION_SCENES } from './location-scenes.ts';
import { MORE_SCENES } from './more/scenes.ts';
import { addBadDay, addManyChecks } from './overview-samples.ts';
import { HEARTBEAT_SCENES } from './planned/heartbeat-scenes.ts';
import { INCIDENT_SCENES } from './planned/incident-scenes.ts';
import { MAINTENANCE_SCENES } from './planned/maintenance-scenes.ts';
import { STATUS_PAGE_SCENES } from './planned/status-page-scenes.ts';
import { SETTINGS_SCENES } from './settings-scenes.ts';

/** A view of the dashboard that `npm run screenshots` makes pictures of. */
export interface Scene {
  /** Begins the names of its files. */
  readonly name: string;
  readonly path: string | ((account: DashboardAccount) => string);
  /** Makes what the account has. Default: nothing. */
  readonly prepare?: (account: DashboardAccount, service: DashboardService) => Promise<void>;
  /** What a reader does there, before the picture. */
  readonly act?: (opened: OpenDashboard, account: DashboardAccount) => Promise<void>;
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
  ...MORE_SCENES,
  ...SETTINGS_SCENES,
  { name: 'overview-40', path: '/', prepare: addBadDay },
  {
    name: 'overview-grouped',
    path: '/?group-by=tag&open=shop',
    prepare: addBadDay,
  },
  {
    name: 'overview-10000',
    path: '/',
    prepare: (account, service) => addManyChecks(account, service, 10_000),
  },
  {
    name: 'overview-error',
    path: '/',
    act: async ({ page }) => {
      await page.route(/\/v1\/check-s/, (route) => route.fulfill({ status: 503, body: '{}' }));
      await page.reload();
      await page.getByRole('alert').waitFor();
    },
  },
];
