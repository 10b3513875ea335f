import { CHANNEL_TYPES } from '../../../../src/web/dashboard/pages/alerting/channels/channel-form.ts';
import { fail, type Scene } from '../scenes.ts';
import { addMonitoringProblems, prepareAlerting } from './alerting-samples.ts';

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
  {
    name: 'alert-acknowledged',
    path: '/alerts',
    prepare: prepareAlerting,
    act: async ({ page }) => {
      await page.getByRole('link', { name: 'Payments API' }).click();
      await page.getByRole('button', { name: /^Acknowledge/ }).click();
      await page.getByRole('button', { name: /^Undo acknowledgement/ }).waitFor();
    },
  },
  {
    name: 'alerts-monitoring-problems',
    path: '/alerts',
    prepare: async (account, service) => {
      await prepareAlerting(account, service);
      await addMonitoringProblems(account, service);
    },
    act: async ({ page }) =>
      await page.getByRole('list', { name: 'Problems of monitoring itself' }).waitFor(),
  },
  {
    name: 'alerts-error',
    path: '/alerts',
    act: async ({ page }) => {
      await fail(page, /\/v1\/(?:check-alerts|monitoring-problems)/);
      await page.reload();
      await page.getByRole('alert').first().waitFor();
    },
  },
  { name: 'channels-empty', path: '/channels' },
  { name: 'channels', path: '/channels', prepare: prepareAlerting },
  { name: 'channel-kinds', path: '/channels/new' },
  ...CHANNEL_TYPES.map(({ type }) => ({
    name: `channel-new-${type.toLowerCase().replaceAll('_', '-')}`,
    path: `/channels/new?type=${type}`,
  })),
  {
    name: 'channel-texts',
    path: '/channels/new?type=SLACK',
    act: async ({ page }) => {
      await page.getByText('Texts of its messages').click();
      await page.getByLabel('First line').fill('{{CHECK_NAME}} is down at {{RUN_LOCATION}}');
      await page.getByLabel('What follows').fill('{{ERROR_MESSAGE}} since {{SINCE}}');
      await page.getByRole('button', { name: 'Preview' }).click();
      await page.locator('.alerting-preview').first().waitFor();
    },
  },
  {
    name: 'channel-texts-refused',
    path: '/channels/new?type=SLACK',
    act: async ({ page }) => {
      await page.getByText('Texts of its messages').click();
      await page.getByLabel('First line').fill('{{CHECK_NAME} is down');
      await page.getByRole('button', { name: 'Preview' }).click();
      await page.locator('[aria-invalid=true]').first().waitFor();
    },
  },
  {
    name: 'channel-refused',
    path: '/channels/new?type=PAGERDUTY',
    act: async ({ page }) => {
      await page.getByRole('button', { name: 'Create the channel' }).click();
      await page.locator('[aria-invalid=true]').first().waitFor();
    },
  },
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
