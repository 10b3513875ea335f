import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { mailServer } from '../support/servers/mail-server.ts';
import { startService } from '../support/service/deployment.ts';
import { tokenIn } from '../support/status-pages/subscriptions.ts';
import { axeViolations, LACKING, openPage, useBrowser } from './support/browser.ts';

describe.skipIf(LACKING !== null)('a subscription to a status page of a real service', () => {
  const browser = useBrowser();

  it('is asked for by form, confirmed by the link of the mail, changed, and ended, without a script', async () => {
    const mail = await mailServer();
    const service = await startService({
      env: {
        SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
        SMTP_FROM: 'status@example.com',
        PUBLIC_URL: 'http://status.test',
      },
    });
    const post = async (path: string, body: object): Promise<string> =>
      (await service.ask(path, { method: 'POST', body })).json.id;
    const shop = await post('/v1/status-pages/services', { name: 'Shop' });
    const search = await post('/v1/status-pages/services', { name: 'Search' });
    const cards = [{ name: 'Websites', services: [shop, search] }];
    const id = await post('/v1/status-pages', { name: 'Acme', url: 'acme', cards });
    const subscribers = async () =>
      (await service.ask(`/v1/status-pages/${id}/subscribers`)).json as readonly object[];
    const { page, context, problems } = await openPage(browser(), { theme: 'light', width: 360 });
    const seeHeading = (name: string) =>
      page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
    const submit = (name: string) => page.getByRole('button', { name }).first().click();
    try {
      await page.goto(`${service.url}/status/acme`);
      await page.getByRole('link', { name: 'Subscribe' }).click();
      const boxes = page.getByRole('checkbox', { name: 'Search' });
      expect(await boxes.first().isVisible()).toBe(false);
      await page.getByLabel('Email address').fill('ann@example.com');
      await page.getByRole('radio', { name: 'Only these' }).first().check();
      await boxes.first().check();
      expect(await axeViolations(page)).toEqual([]);
      await submit('Subscribe');
      await seeHeading('Check your inbox');
      expect(await axeViolations(page)).toEqual([]);

      await eventually(() => mail.mails.length === 1);
      expect(await subscribers()).toMatchObject([{ state: 'unconfirmed', services: [search] }]);
      await page.goto(`${service.url}/status/acme/subscriptions/${tokenIn(mail.mails[0])}`);
      await seeHeading('Confirm the subscription');
      expect(await axeViolations(page)).toEqual([]);
      await submit('Confirm');
      await seeHeading('Your subscription');
      expect(await page.getByRole('status').textContent()).toContain('confirmed');
      expect(await boxes.first().isChecked()).toBe(true);
      expect(await axeViolations(page)).toEqual([]);

      await page.getByRole('radio', { name: 'All services' }).check();
      expect(await boxes.first().isVisible()).toBe(false);
      await submit('Save');
      await page.getByRole('status').filter({ hasText: 'Saved.' }).waitFor();
      expect(await page.getByRole('radio', { name: 'All services' }).isChecked()).toBe(true);
      await submit('Unsubscribe');
      await seeHeading('You are unsubscribed');
      expect(await axeViolations(page)).toEqual([]);
      expect(await subscribers()).toEqual([]);
      await page.getByRole('link', { name: 'Current status' }).click();
      await page.waitForURL(`${service.url}/status/acme`);
      expect(problems).toEqual([]);
    } finally {
      await context.close();
    }
  });
});
