import { acknowledgeToken } from '../../../src/service/alerts/acknowledgements/acknowledge-link.ts';
import { TEST_SECRETS } from '../../support/service/service-features.ts';
import type { DashboardAccount } from '../support/dashboard-service.ts';
import { alertingData, FAILED } from './alerting/alerting-samples.ts';
import type { Scene } from './scenes.ts';

/** By account: scenes have accounts of their own. */
const paths = new Map<string, string>();
const pathOf = ({ accountId }: DashboardAccount): string => paths.get(accountId) ?? '/';

/** The pages that are opened before somebody signs in, and by links of messages. */
export const GUEST_SCENES: readonly Scene[] = [
  { name: 'guest-sign-in', path: '/sign-in', isGuest: true },
  {
    name: 'guest-sign-in-refused',
    path: '/sign-in',
    isGuest: true,
    act: async ({ page }) => {
      await page.getByLabel('Email').fill('mira.roth@example.com');
      await page.getByLabel('Password').fill('not the password');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('alert').waitFor();
    },
  },
  { name: 'guest-setup-gone', path: '/setup/none', isGuest: true },
  {
    name: 'guest-invitation',
    path: pathOf,
    isGuest: true,
    prepare: async (account) => {
      const body = { email: 'jo.winter@example.com', role: 'write' };
      const { json } = await account.post('/v1/invitations', body);
      paths.set(account.accountId, new URL(json.url).pathname);
    },
  },
  { name: 'guest-invitation-gone', path: '/invitations/none', isGuest: true },
  {
    name: 'guest-acknowledge',
    path: pathOf,
    isGuest: true,
    prepare: async (account, service) => {
      const data = await alertingData(service, account);
      await data.check('shop', { name: 'The shop' });
      const { json: channel } = await account.post('/v1/alert-channels', {
        type: 'EMAIL',
        config: { address: 'night@example.com' },
        subscriptions: [{ checkId: 'shop' }],
      });
      await data.run('shop', 1, FAILED);
      const [{ id: alertId }] = (await account.get('/v1/check-alerts?open=true')).json;
      const token = acknowledgeToken(TEST_SECRETS, { alertId, channelId: channel.id });
      paths.set(account.accountId, `/acknowledge/${token}`);
    },
  },
];
