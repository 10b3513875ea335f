import { describe, expect, it } from 'vitest';
import { acknowledgeToken } from '../../src/service/alerts/acknowledgements/acknowledge-link.ts';
import { TEST_SECRETS } from '../support/service/service-features.ts';
import { alertingData, FAILED } from './dashboard/alerting/alerting-samples.ts';
import { axeViolations, LACKING, openPage, THEMES, useBrowser } from './support/browser.ts';
import { useDashboard } from './support/dashboard.ts';

describe.skipIf(LACKING !== null)('the page of the link in a message', () => {
  const browser = useBrowser();
  const { service, newAccount } = useDashboard();

  it.each(THEMES)(
    'lets anybody with the link acknowledge an alert and undo it (%s)',
    async (theme) => {
      const account = await newAccount();
      const data = await alertingData(service(), account);
      await data.check('shop', { name: 'The shop' });
      const made = await account.post('/v1/alert-channels', {
        type: 'EMAIL',
        config: { address: 'night@example.com' },
        subscriptions: [{ checkId: 'shop' }],
      });
      await data.run('shop', 1, FAILED);
      const [{ id: alertId }] = (await account.get('/v1/check-alerts?open=true')).json;
      const token = acknowledgeToken(TEST_SECRETS, { alertId, channelId: made.json.id });
      const { page, context, problems } = await openPage(browser(), { theme, width: 360 });
      const seeHeading = (name: string) =>
        page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
      try {
        await page.goto(`${service().url}/acknowledge/${token}`);
        await seeHeading('Acknowledge the alert');
        expect(await page.textContent('main')).toContain('The shop has failed');
        expect(await axeViolations(page)).toEqual([]);
        await page.getByRole('button', { name: 'Acknowledge' }).click();
        await seeHeading('The alert is acknowledged');
        expect(await page.getByRole('status').textContent()).toContain('By night@example.com');
        expect(await axeViolations(page)).toEqual([]);
        await page.getByRole('button', { name: 'Undo' }).click();
        await seeHeading('Acknowledge the alert');
        const overflow = await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        );
        expect([overflow, problems]).toEqual([0, []]);
      } finally {
        await context.close();
      }
    },
  );
});
