import { prepareAlerting } from './alerting-data.ts';
import type { Scene } from './scenes.ts';

/** Alerts and channels: without any, and with some of each kind. */
export const ALERTING_SCENES: readonly Scene[] = [
  { name: 'alerts-empty', path: '/alerts' },
  { name: 'alerts', path: '/alerts', prepare: prepareAlerting },
  { name: 'alerts-past', path: '/alerts?show=all', prepare: prepareAlerting },
  {
    name: 'alert',
    path: '/alerts',
    prepare: prepareAlerting,
    act: async ({ page }) => {
      await page.getByRole('link', { name: 'Payments API' }).click();
      await page.getByRole('region', { name: 'Who would be notified next time' }).waitFor();
    },
  },
  { name: 'channels-empty', path: '/channels' },
  { name: 'channels', path: '/channels', prepare: prepareAlerting },
  { name: 'channel-new', path: '/channels/new?type=WEBHOOK', prepare: prepareAlerting },
  {
    name: 'channel',
    path: '/channels',
    prepare: prepareAlerting,
    act: async ({ page }) => {
      await page.getByRole('link', { name: 'Pager' }).click();
      await page.getByRole('button', { name: 'Send a test' }).click();
      await page.locator('.alerting-test-answer .state').waitFor();
    },
  },
];
