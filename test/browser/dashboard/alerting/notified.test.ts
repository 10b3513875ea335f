import { describe, expect, it } from 'vitest';
import { hookServer } from '../../../support/servers/hook-server.ts';
import { LACKING } from '../../support/browser.ts';
import { useDashboard } from '../../support/dashboard.ts';
import { alertingData, FAILED } from './alerting-samples.ts';

describe.skipIf(LACKING !== null)('who was notified of what, and why', () => {
  const { service, newAccount, open } = useDashboard();

  it('is on the pages of an alert, of its channels, and of checks whose alerts wait', async () => {
    const account = await newAccount();
    const data = await alertingData(service(), account);
    const takes = await hookServer((_, answer) => answer.writeHead(202).end('queued'));
    const refuses = await hookServer((_, answer) => answer.writeHead(401).end('no such webhook'));
    await data.check('router', { name: 'Router' });
    await data.check('cdn', { name: 'CDN' });
    await data.check('shop', { name: 'Shop', dependsOn: ['router'] });
    await data.check('blog', { name: 'Blog', muted: true });
    const subscriptions = ['router', 'cdn', 'shop', 'blog'].map((checkId) => ({ checkId }));
    const hook = (name: string) => ({ type: 'WEBHOOK', config: { name, url: takes.url } });
    for (const channel of [
      { ...hook('Pager'), subscriptions },
      { type: 'DISCORD', config: { name: 'Team chat', url: refuses.url }, subscriptions },
      { ...hook('Night desk'), subscribeAll: true, groupBy: 'LOCATION', groupWindow: 5 },
      { ...hook('Certificates'), sendFailure: false, sslExpiry: true, subscriptions },
    ]) {
      expect((await account.post('/v1/alert-channels', channel)).status).toBe(201);
    }
    // In one request: the window of the group lasts as long on a busy machine as on an idle one.
    await data.runAll(['router', 'cdn', 'shop', 'blog'], 1, FAILED);

    const { page, goto, axe, faults } = await open(account);
    await goto('/alerts');
    await page.getByRole('link', { name: 'Router' }).click();
    const notified = page.getByRole('region', { name: 'Who was notified' }).getByRole('row');
    await notified
      .filter({ hasText: /Night desk.*Delivered in one message with 1 other/ })
      .waitFor();
    await notified.filter({ hasText: /Team chat.*Not delivered.*refuses the key/ }).waitFor();
    const rows = (await notified.allTextContents()).join();
    expect(rows).toMatch(/Night desk WebhookIt was subscribed to all checks\./);
    expect(rows).toMatch(/Pager WebhookIt was subscribed to the check\.Delivered/);
    expect(rows).not.toContain('Certificates');
    const next = page.getByRole('region', { name: 'Who would be notified next time' });
    await next.getByText('the alerts of 1 check that depends on it wait').waitFor();
    expect(await next.textContent()).toMatch(
      /Not notified of failuresCertificates.*fail now: Shop\./,
    );
    expect(await axe()).toEqual([]);

    await page.getByRole('link', { name: 'Night desk' }).first().click();
    const sent = page.getByRole('region', { name: 'Notifications sent to it' }).getByRole('row');
    await sent.filter({ hasText: /Router: failed.*in one message with 1 other alert/ }).waitFor();
    await sent.filter({ hasText: /CDN: failed/ }).waitFor();

    await goto('/checks/shop');
    const why = page.getByRole('region', { name: 'Why there is no alert' });
    await why.getByText('It depends on Router: its alert waits.').waitFor();
    await goto('/checks/blog');
    await why.getByText('The check or its group is muted: its alert waits.').waitFor();
    expect(await axe()).toEqual([]);
    expect(faults()).toEqual([]);
  });
});
