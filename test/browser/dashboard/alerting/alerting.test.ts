import { describe, expect, it } from 'vitest';
import { hookServer } from '../../../support/servers/hook-server.ts';
import { LACKING, THEMES } from '../../support/browser.ts';
import { useDashboard } from '../../support/dashboard.ts';
import {
  addMonitoringProblems,
  alertingData,
  FAILED,
  PASSED,
  prepareAlerting,
} from './alerting-samples.ts';

describe.skipIf(LACKING !== null)('the pages of alerts', () => {
  const { service, newAccount, open } = useDashboard();

  it('show what is open, live, and what is past on request', async () => {
    const account = await newAccount();
    const data = await alertingData(service(), account);
    await data.check('shop', { name: 'The shop' });
    const { page, goto, faults } = await open(account);
    await goto('/alerts');
    await page.getByRole('heading', { name: 'No open alerts' }).waitFor();
    await data.run('shop', 2, FAILED);
    const row = page.getByRole('row').filter({ hasText: 'The shop' });
    await row.waitFor();
    expect(await row.textContent()).toContain('Failed');
    expect(await row.textContent()).toContain('nobody');
    await data.run('shop', 1, PASSED);
    await page.getByRole('heading', { name: 'No open alerts' }).waitFor();
    await page.getByRole('link', { name: 'See past alerts' }).click();
    await row.first().waitFor();
    expect(await row.allTextContents()).toEqual([
      expect.stringContaining('Recovered'),
      expect.stringContaining('Failed'),
    ]);
    expect(new URL(page.url()).search).toBe('?show=all');
    await page.getByRole('button', { name: 'Kind: any' }).click();
    await page.getByRole('menuitemradio', { name: 'Failures' }).click();
    await row.filter({ hasText: 'Recovered' }).waitFor({ state: 'detached' });
    await expect.poll(() => row.count()).toBe(1);
    await page.goBack();
    expect(faults()).toEqual([]);
  });

  it('say who was notified, and send a notification again that did not arrive', async () => {
    const account = await newAccount();
    const data = await alertingData(service(), account);
    let status = 404;
    const server = await hookServer((_, answer) => answer.writeHead(status).end('no such hook'));
    await data.check('shop', { name: 'The shop' });
    const made = await account.post('/v1/alert-channels', {
      type: 'WEBHOOK',
      config: { name: 'Pager', url: server.url },
      subscriptions: [{ checkId: 'shop' }],
    });
    await data.run('shop', 1, FAILED);
    const { page, goto, faults } = await open(account);
    await goto('/alerts');
    await page.getByRole('link', { name: 'The shop' }).click();
    await page.getByRole('heading', { level: 1, name: 'The shop has failed' }).waitFor();
    await expect
      .poll(() => page.title(), { timeout: 20_000 })
      .toBe('The shop has failed – Vedette');
    const notified = page.getByRole('region', { name: 'Who was notified' }).getByRole('row');
    await notified.filter({ hasText: 'Status 404' }).waitFor();
    expect(await notified.last().textContent()).toContain('no such hook');
    // Further attempts would take minutes: it is given up here.
    await service().store.query(
      `update alert_deliveries set state = 'failed', finished_at = now(), owner = null, lease_until = null
       where account_id = $1 and channel_id = $2::bigint`,
      [account.accountId, made.json.id],
    );
    status = 200;
    await page.getByRole('button', { name: 'Send again to Pager' }).click();
    // Not `Not delivered`.
    await notified.filter({ hasText: /Delivered/ }).waitFor();
    expect(server.requests.length).toBe(2);
    await page
      .getByRole('region', { name: 'Who would be notified next time' })
      .getByText('It is subscribed to this check and wants failures, recoveries.')
      .waitFor();
    expect(faults()).toEqual([]);
  });

  it('show problems of monitoring itself, of which a channel chooses some', async () => {
    const account = await newAccount();
    await alertingData(service(), account);
    const made = await account.post('/v1/alert-channels', {
      type: 'EMAIL',
      config: { address: 'ops@example.com' },
    });
    await addMonitoringProblems(account, service());
    const { page, goto, axe, faults } = await open(account);
    const problems = page
      .getByRole('list', { name: 'Problems of monitoring itself' })
      .getByRole('listitem');
    await goto('/alerts');
    await problems.first().waitFor();
    expect((await problems.allTextContents()).join()).toMatch(
      /Channel failsChannel ops@example\.com does not take notifications.*Missed slotsLocation Berlin misses slotsfor 1 h/s,
    );
    expect(await axe()).toEqual([]);
    await page.getByRole('link', { name: 'Location Berlin misses slots' }).click();
    await page.getByRole('heading', { level: 1, name: 'Berlin' }).waitFor();
    await problems.filter({ hasText: 'Of 60 slots 12 were not run.' }).waitFor();
    expect(await problems.count()).toBe(1);

    await goto(`/channels/${made.json.id}`);
    await problems.filter({ hasText: 'The answer was the status 404.' }).waitFor();
    await page
      .getByRole('combobox', { name: 'Problems of monitoring itself' })
      .selectOption('chosen');
    await page.getByRole('checkbox', { name: 'Locations that miss slots' }).uncheck();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('is saved.').waitFor();
    const [stored] = (await account.get('/v1/alert-channels')).json;
    expect(stored.sendMonitoringProblems).toEqual([
      'AGENT_OUTDATED',
      'AGENT_CLOCK_OFF',
      'RESULTS_WAITING',
      'CHANNEL_FAILING',
      'DISK_NEARLY_FULL',
    ]);
    expect(faults()).toEqual([]);
    // Without the problems alone, the page does not look as if there were none.
    await page.route('**/v1/monitoring-problems?*', (route) =>
      route.fulfill({ status: 503, json: { message: 'The database is not available' } }),
    );
    await goto('/alerts');
    const unread = page.getByText(/problems of monitoring itself could not be read: The database/);
    await unread.waitFor();
  });

  it('let a user take an alert in the list, give it back on its page, and take it beside its check', async () => {
    const account = await newAccount('run');
    const data = await alertingData(service(), account);
    await data.check('shop', { name: 'The shop' });
    await data.run('shop', 1, FAILED);
    const { page, goto, faults } = await open(account);
    await goto('/alerts');
    await page.getByRole('button', { name: 'Acknowledge The shop' }).click();
    const row = page.getByRole('row').filter({ hasText: account.email });
    await row.getByRole('link', { name: 'The shop' }).click();
    await page.getByText('Acknowledged by').waitFor();
    await page.getByRole('button', { name: 'Undo acknowledgement of The shop' }).click();
    await page.getByText('The alert is no longer acknowledged').waitFor();
    await goto('/checks/shop');
    const openAlert = page.getByRole('region', { name: 'Open alert' });
    await openAlert.getByText('acknowledged by nobody').waitFor();
    await openAlert.getByRole('button', { name: 'Acknowledge The shop' }).click();
    await openAlert.getByText(account.email).waitFor();
    const [alert] = (await account.get('/v1/check-alerts?open=true')).json;
    expect(alert.acknowledgement.by).toMatchObject({ kind: 'user', name: account.email });
    expect(faults()).toEqual([]);
  });

  it('let a channel be made for some checks, tried, changed and deleted', async () => {
    const account = await newAccount();
    const data = await alertingData(service(), account);
    const server = await hookServer((_, answer) => answer.writeHead(202).end('queued'));
    await data.check('shop', { name: 'The shop' });
    await data.check('blog', { name: 'The blog' });
    const { page, goto, faults } = await open(account);
    await goto('/channels');
    await page.getByRole('link', { name: /^Webhook/ }).click();
    await page.getByRole('heading', { level: 1, name: 'New channel: Webhook' }).waitFor();
    await page.getByLabel('Name', { exact: true }).fill('Pager');
    await page.getByLabel('URL', { exact: true }).fill('not a URL');
    await page.getByRole('button', { name: 'Create the channel' }).click();
    const url = page.getByLabel('URL', { exact: true });
    await page.getByText(/must be an http or https URL/).waitFor();
    expect(await url.getAttribute('aria-invalid')).toBe('true');
    await url.fill(server.url);
    await page.getByRole('checkbox', { name: 'The shop' }).check();
    await page.getByRole('button', { name: 'Create the channel' }).click();
    await page.getByRole('heading', { level: 1, name: 'Pager' }).waitFor();
    expect(page.url()).toMatch(/\/channels\/\d+$/);
    expect(await page.getByRole('checkbox', { name: 'The blog' }).isChecked()).toBe(false);

    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByText('The receiver answered with status 202.').waitFor();
    expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({
      CHECK_NAME: 'Test (no real failure)',
    });

    await page.getByRole('checkbox', { name: 'Degraded checks' }).check();
    expect(await page.getByRole('button', { name: 'Send a test' }).isDisabled()).toBe(true);
    await page.getByText('Texts of its messages').click();
    await page.getByLabel('First line').fill('{{CHECK_NAME}} is down');
    await page.getByRole('button', { name: 'Preview' }).click();
    const preview = page.getByText('Test (no real failure) is down').first();
    await preview.waitFor();
    await page.getByLabel('First line').fill('{{#if CHECK_NAME}} is down');
    await preview.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Preview' }).click();
    const refusal = page.getByText('See the fields above.');
    await refusal.waitFor();
    await page.getByLabel('First line').fill('{{CHECK_NAME}} is down');
    await refusal.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Preview' }).click();
    await preview.waitFor();
    await page.getByRole('checkbox', { name: 'All current and future checks' }).check();
    await page.getByRole('checkbox', { name: 'The blog' }).uncheck();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('is saved. It serves 1 check.').waitFor();
    const [stored] = (await account.get('/v1/alert-channels')).json;
    expect(stored).toMatchObject({
      type: 'WEBHOOK',
      sendDegraded: true,
      titleTemplate: '{{CHECK_NAME}} is down',
      subscribeAll: true,
      subscriptions: [
        { checkId: 'blog', activated: false },
        { checkId: 'shop', activated: true },
      ],
    });

    await page.getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete Pager' });
    expect(await dialog.textContent()).toContain('Alerts of all but 1 check no longer go there.');
    await dialog.getByRole('button', { name: 'Delete the channel' }).click();
    await page.getByRole('heading', { name: 'Nobody is notified of alerts yet' }).waitFor();
    expect((await account.get('/v1/alert-channels')).json).toEqual([]);
    // The browser itself logs the answer to the URL that was none, and to the reading of the channel that
    // the event of its deletion may start before the page is left.
    expect(faults().filter((fault) => !/status of 40[04]/.test(fault))).toEqual([]);
  });

  it('let a channel to an incident service be made, tried and changed without its key', async () => {
    const account = await newAccount();
    const server = await hookServer((_, answer) => answer.writeHead(202).end('{}'));
    const { page, goto, faults } = await open(account);
    await goto('/channels');
    await page.getByRole('link', { name: /^PagerDuty/ }).click();
    await page.getByRole('heading', { level: 1, name: 'New channel: PagerDuty' }).waitFor();
    await page.getByLabel('Routing key', { exact: true }).fill('a1b2c3d4e5f6');
    await page.getByLabel('URL', { exact: true }).fill(new URL(server.url).origin);
    await page.getByRole('button', { name: 'Create the channel' }).click();
    await page.getByRole('heading', { level: 1, name: 'PagerDuty' }).waitFor();
    await page.getByText('One is stored. Leave this empty to keep it.').waitFor();
    await page.getByLabel('Name', { exact: true }).fill('On call');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('is saved.').waitFor();
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByText('The receiver answered with status 202.').waitFor();
    expect(server.requests.map(({ body }) => JSON.parse(body))).toMatchObject([
      { routing_key: 'a1b2c3d4e5f6', event_action: 'trigger' },
      { routing_key: 'a1b2c3d4e5f6', event_action: 'resolve' },
    ]);
    expect(faults()).toEqual([]);
  });

  it('do not overwrite what somebody else has changed meanwhile', async () => {
    const account = await newAccount();
    const made = await account.post('/v1/alert-channels', {
      type: 'EMAIL',
      config: { address: 'ops@example.com' },
    });
    const { page, goto } = await open(account);
    await goto(`/channels/${made.json.id}`);
    await page.getByRole('checkbox', { name: 'Degraded checks' }).check();
    const other = { config: { address: 'night@example.com' } };
    await account.patch(`/v1/alert-channels/${made.json.id}`, other);
    await page.getByRole('heading', { level: 1, name: 'night@example.com' }).waitFor();
    expect(await page.getByLabel('Address').inputValue()).toBe('ops@example.com');
    expect(await page.getByRole('checkbox', { name: 'Degraded checks' }).isChecked()).toBe(true);
    await page.getByText('has changed this channel meanwhile').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Save', disabled: false }).waitFor();
    const stored = async () => (await account.get(`/v1/alert-channels/${made.json.id}`)).json;
    expect(await stored()).toMatchObject({ sendDegraded: false, ...other });
    await page.getByRole('button', { name: 'Drop my changes and load theirs' }).click();
    await expect.poll(() => page.getByLabel('Address').inputValue()).toBe('night@example.com');
    await page.getByRole('checkbox', { name: 'Degraded checks' }).check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('is saved.').waitFor();
    expect(await stored()).toMatchObject({ sendDegraded: true, ...other });
  });

  it('show no control to a reader that the role may not use', async () => {
    const account = await newAccount('read');
    await prepareAlerting(account, service());
    const { page, goto, faults } = await open(account);
    await goto('/channels');
    await page.getByRole('link', { name: 'on-call@example.com' }).waitFor();
    expect(await page.getByRole('link', { name: 'New channel' }).count()).toBe(0);
    await page.getByRole('link', { name: 'on-call@example.com' }).click();
    await page.getByLabel('Address').waitFor();
    expect(await page.getByLabel('Address').isDisabled()).toBe(true);
    const sent = page.getByRole('region', { name: 'Notifications sent to it' });
    await sent.getByRole('row').last().waitFor();
    for (const name of ['Save', 'Delete', 'Send a test', /^Send again/]) {
      expect(await page.getByRole('button', { name }).count(), String(name)).toBe(0);
    }
    expect(faults()).toEqual([]);
  });

  it.each(THEMES)('have no violation of axe and do not scroll sideways (%s)', async (theme) => {
    const account = await newAccount();
    await prepareAlerting(account, service());
    const [alert] = (await account.get('/v1/check-alerts?open=true')).json;
    const [channel] = (await account.get('/v1/alert-channels')).json;
    for (const width of [360, 1_440]) {
      const { page, goto, axe, faults } = await open(account, { theme, width });
      for (const path of [
        '/alerts',
        '/alerts?show=all&checkId=checkout',
        `/alerts/${alert.id}`,
        '/channels',
        '/channels/new',
        '/channels/new?type=WEBHOOK',
        `/channels/${channel.id}`,
      ]) {
        await goto(path);
        await expect.poll(() => page.locator('.skeleton').count()).toBe(0);
        expect(await axe(), path).toEqual([]);
        const overflow = await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        );
        expect(overflow, `pixels that ${path} scrolls sideways`).toBe(0);
      }
      expect(faults()).toEqual([]);
    }
  });
});
