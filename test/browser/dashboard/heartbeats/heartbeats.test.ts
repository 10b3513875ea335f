import { describe, expect, it } from 'vitest';
import { LACKING, THEMES } from '../../support/browser.ts';
import { useDashboard } from '../../support/dashboard.ts';
import { age, makeHeartbeat, prepareHeartbeats } from './heartbeat-scenes.ts';

describe.skipIf(LACKING !== null)('the pages of heartbeats', () => {
  const { service, newAccount, open } = useDashboard();
  const ping = (path: string) => service().app.ask(path, { key: null });

  it('lead by keyboard from nothing to a heartbeat whose copied URL is pinged', async () => {
    const account = await newAccount();
    const { page, goto, faults } = await open(account);
    await goto('/heartbeats');
    await page.getByRole('heading', { name: 'There is no heartbeat yet' }).waitFor();
    await page.getByRole('button', { name: 'New heartbeat' }).press('Enter');
    await page.getByLabel('Name').waitFor();
    await page.keyboard.type('Nightly backup');
    await page.getByLabel('A ping is expected every', { exact: true }).fill('10');
    await page.getByLabel('A ping is expected every: unit').selectOption('seconds');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Create the heartbeat' }).click();
    await page.getByText('must be from 30 seconds to 365 days, in its unit').waitFor();
    const period = page.getByLabel('A ping is expected every', { exact: true });
    expect(await period.getAttribute('aria-invalid')).toBe('true');
    await expect.poll(() => period.evaluate((input) => input.matches(':focus'))).toBe(true);
    // Nothing typed is lost.
    expect(await page.getByLabel('Name').inputValue()).toBe('Nightly backup');
    await period.fill('45');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Nightly backup' }).waitFor();
    await page.locator('.page-header').getByText('No ping yet').waitFor();
    const [made] = (await account.get('/v1/checks/heartbeats')).json;
    expect(made).toMatchObject({
      name: 'Nightly backup',
      heartbeat: { period: 45, periodUnit: 'SECONDS', grace: 1, graceUnit: 'HOURS' },
    });
    const lines = await page
      .getByRole('region', { name: 'How the job pings' })
      .locator('code')
      .allTextContents();
    const { pingUrl } = made.heartbeat;
    expect(lines).toEqual([
      pingUrl,
      `curl -fsS -m 10 --retry 5 -o /dev/null ${pingUrl}`,
      expect.stringMatching(/^0 \* \* \* \* .*curl -fsS .*\/heartbeat\/[0-9a-f]{40}$/),
    ]);
    expect((await fetch(lines[0] ?? '')).status).toBe(200);
    await page
      .getByRole('table', { name: 'Pings and failures' })
      .getByText('Ping in time')
      .waitFor();
    await page.locator('.page-header').getByText('In time').waitFor();
    // The browser logs the refused request itself.
    expect(faults().filter((fault) => !fault.includes('status of 400'))).toEqual([]);
  });

  it('show the late ones first, live, and those that never pinged', async () => {
    const account = await newAccount();
    const [backup, report] = [
      await makeHeartbeat(account),
      await makeHeartbeat(account, { name: 'A report' }),
    ];
    await makeHeartbeat(account, { name: 'Not in cron' });
    for (const { pingPath } of [backup, report]) await ping(pingPath);
    await age(service(), report.id, 62);
    const { page, goto, faults } = await open(account);
    await goto('/heartbeats');
    const rows = page.getByRole('table', { name: 'Heartbeats' }).locator('tbody tr');
    await rows.nth(2).waitFor();
    const names = () => rows.locator('td:nth-child(2)').allTextContents();
    expect((await names())[0]).toBe('Not in cron');
    expect(await rows.filter({ hasText: 'A report' }).textContent()).toMatch(
      /Overdue.*every 1 h, 5 min of grace.*alerts in 2 min/,
    );
    await age(service(), backup.id, 90);
    await page.getByText('1 late').waitFor();
    await expect.poll(async () => (await names())[0]).toBe('Nightly backup');
    expect(await rows.first().textContent()).toMatch(/Late.*for.*1 h 30 min ago/);
    await ping(backup.pingPath);
    await page.getByText('1 late').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'State: any' }).click();
    await page.getByRole('menuitemradio', { name: 'No ping yet' }).click();
    await expect.poll(names).toEqual(['Not in cron']);
    expect(new URL(page.url()).search).toBe('?state=unknown');
    expect(faults()).toEqual([]);
  });

  it('show that somebody has acknowledged the alert', async () => {
    const account = await newAccount();
    const { id, pingPath } = await makeHeartbeat(account);
    await ping(pingPath);
    await age(service(), id, 90);
    const { page, goto, faults } = await open(account);
    await goto(`/heartbeats/${id}`);
    await page.getByRole('button', { name: /^Acknowledge/ }).click();
    await page.locator('.page-header').getByText('acknowledged', { exact: true }).waitFor();
    await page.getByRole('button', { name: /^Undo acknowledgement/ }).click();
    const mark = page.locator('.page-header').getByText('acknowledged', { exact: true });
    await mark.waitFor({ state: 'detached' });
    expect(faults()).toEqual([]);
  });

  it('pause, resume, mute and delete a heartbeat, and say what is lost', async () => {
    const account = await newAccount();
    const { id, pingPath } = await makeHeartbeat(account);
    await ping(pingPath);
    const { page, goto, faults } = await open(account);
    await goto(`/heartbeats/${id}`);
    const stored = async () => (await account.get(`/v1/checks/heartbeats/${id}`)).json;
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.locator('.page-header').getByText('Paused').waitFor();
    expect(await stored()).toMatchObject({ activated: false });
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.locator('.page-header').getByText('In time').waitFor();
    await page.getByRole('button', { name: 'Mute' }).click();
    await page.locator('.page-header').getByText('muted', { exact: true }).waitFor();
    expect(await stored()).toMatchObject({ activated: true, muted: true });
    const old = (await stored()).heartbeat.pingUrl;
    await page.getByRole('button', { name: 'Replace the URL' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Replace the URL' }).click();
    await page.getByText(old).first().waitFor({ state: 'detached' });
    expect((await ping(pingPath)).status).toBe(404);
    await page.getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete Nightly backup' });
    expect(await dialog.textContent()).toContain('its pings, its availability and its alerts');
    await dialog.getByRole('button', { name: 'Delete the heartbeat' }).click();
    await page.getByRole('heading', { name: 'There is no heartbeat yet' }).waitFor();
    expect((await stored()).statusCode).toBe(404);
    // The event of its deletion may start a reading before the page is left.
    expect(faults().filter((fault) => !fault.includes('status of 404'))).toEqual([]);
  });

  it('do not overwrite what somebody else has saved, and ask before changes are lost', async () => {
    const account = await newAccount();
    const { id } = await makeHeartbeat(account);
    const { page, goto } = await open(account);
    await goto(`/heartbeats/${id}`);
    await page.getByRole('button', { name: 'Edit' }).click();
    const name = page.getByLabel('Name');
    await name.fill('Mine');
    await account.patch(`/v1/checks/heartbeats/${id}`, { name: 'Theirs' });
    await page.getByRole('heading', { level: 1, name: 'Theirs' }).waitFor();
    expect(await name.inputValue()).toBe('Mine');
    await page.getByRole('button', { name: 'Save' }).click();
    // The key of the account is named "first".
    await page
      .getByRole('alert')
      .getByText(/first \(.+\) has changed this heartbeat/)
      .waitFor();
    const answers: boolean[] = [false, true];
    const asked: string[] = [];
    page.on('dialog', (dialog) => {
      asked.push(dialog.message());
      void (answers.shift() === true ? dialog.accept() : dialog.dismiss());
    });
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect(await name.inputValue()).toBe('Mine');
    await page.keyboard.press('Escape');
    await name.waitFor({ state: 'detached' });
    expect(asked).toEqual(Array(2).fill(expect.stringContaining('are not saved')));
    const read = await account.get(`/v1/checks/heartbeats/${id}`);
    expect(read.json.name).toBe('Theirs');
  });

  it('have a group, channels and alert settings of their own', async () => {
    const account = await newAccount();
    const { id } = await makeHeartbeat(account);
    const group = await account.post('/v1/check-groups', { name: 'Backups' });
    const channel = await account.post('/v1/alert-channels', {
      type: 'EMAIL',
      config: { address: 'ops@example.com' },
    });
    const { page, goto, faults } = await open(account);
    await goto(`/heartbeats/${id}`);
    await page.getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Tags').fill('shop, "Berlin, Mitte"');
    await dialog.getByLabel('Group').selectOption('Backups');
    await dialog.getByRole('checkbox', { name: 'ops@example.com' }).check();
    await dialog.getByLabel('Alert settings of the account').uncheck();
    await dialog.getByLabel('Reminders').selectOption('2');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The heartbeat is saved.').waitFor();
    expect((await account.get(`/v1/checks/heartbeats/${id}`)).json).toMatchObject({
      tags: ['shop', 'Berlin, Mitte'],
      groupId: group.json.id,
      alertChannelSubscriptions: [{ alertChannelId: channel.json.id, activated: true }],
      useGlobalAlertSettings: false,
      alertSettings: { reminders: { amount: 2 } },
    });
    expect(faults()).toEqual([]);
  });

  it('show a reader neither the URL nor a control', async () => {
    const account = await newAccount('read');
    await prepareHeartbeats(account, service());
    const { page, goto, faults } = await open(account);
    await goto('/heartbeats');
    await page.getByRole('link', { name: 'Report of sales' }).waitFor();
    expect(await page.getByRole('button', { name: 'New heartbeat' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Report of sales' }).click();
    await page.getByText('Users with the role write see it here').waitFor();
    for (const name of ['Edit', 'Pause', 'Mute', 'Replace the URL', 'Delete']) {
      expect(await page.getByRole('button', { name }).count(), name).toBe(0);
    }
    expect(await page.content()).not.toContain('/heartbeat/');
    const refused = await page.evaluate(async () => {
      const headers = { 'content-type': 'application/json' };
      const body = '{"name":"x"}';
      return (await fetch('/v1/checks/heartbeats', { method: 'POST', headers, body })).status;
    });
    expect(refused).toBe(403);
    expect(faults().filter((fault) => !fault.includes('status of 403'))).toEqual([]);
  });

  it('are where the overview leads for a heartbeat', async () => {
    const account = await newAccount();
    const { id } = await makeHeartbeat(account);
    const { page, goto } = await open(account);
    await goto('/');
    await page.getByRole('link', { name: 'Nightly backup' }).click();
    await page.getByRole('heading', { level: 1, name: 'Nightly backup' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/heartbeats/${id}`);
  });

  it.each(THEMES)('have no violation of axe and do not scroll sideways (%s)', async (theme) => {
    const account = await newAccount();
    await prepareHeartbeats(account, service());
    const [late] = (await account.get('/v1/check-statuses?state=failing')).json;
    for (const width of [360, 1_440]) {
      const { page, goto, axe, faults } = await open(account, { theme, width });
      for (const path of ['/heartbeats', `/heartbeats/${late.checkId}`, '/heartbeats/none']) {
        await goto(path);
        await expect.poll(() => page.locator('.skeleton').count()).toBe(0);
        expect(await axe(), path).toEqual([]);
        const overflow = await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        );
        expect(overflow, `pixels that ${path} scrolls sideways`).toBe(0);
      }
      await goto('/heartbeats');
      await page.getByRole('button', { name: 'New heartbeat' }).click();
      await page.getByRole('dialog').waitFor();
      expect(await axe(), 'the form').toEqual([]);
      expect(faults().filter((fault) => !fault.includes('status of 404'))).toEqual([]);
    }
  });
});
