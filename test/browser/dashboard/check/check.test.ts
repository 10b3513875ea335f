import { describe, expect, it } from 'vitest';
import { resultIdOf, sequenceIdOf } from '../../../../src/model/ids.ts';
import { LACKING } from '../../support/browser.ts';
import { useDashboard } from '../../support/dashboard.ts';
import {
  addCheck,
  addFailingCheck,
  addLocations,
  deliver,
  httpDetail,
  ORDERS,
  runOf,
  slotAgo,
  timeoutDetail,
} from './check-samples.ts';

describe.skipIf(LACKING !== null)('the page of a check', () => {
  const { service, newAccount, open } = useDashboard();

  it('says why it fails and what to try, and leads to log, trace and capture by one more click', async () => {
    const account = await newAccount();
    const { failedId } = await addFailingCheck(account, service());
    const { page, goto, faults } = await open(account);
    await goto('/checks/orders');
    const why = page.getByRole('region', { name: 'Why, and what to try' });
    await why.getByText('did not accept the connection').waitFor();
    expect(await why.textContent()).toContain('What to try. Check whether a firewall');
    expect(await page.title()).toBe('Orders API – Vedette');
    await page.getByRole('link', { name: /Job log, trace and capture/ }).click();
    await page.waitForURL(`**/checks/orders/results/${failedId}`);
    await page
      .getByRole('region', { name: 'Job log' })
      .getByText('Attempt 2 of at most 2')
      .waitFor();
    const trace = page.getByRole('region', { name: 'Hops of the trace' });
    expect(await trace.getByRole('row').nth(2).textContent()).toContain('20 %');
    const capture = page.getByRole('link', { name: 'Packet capture' });
    expect(await capture.getAttribute('href')).toMatch(/^\/v1\/artifacts\/[0-9a-f-]+$/);
    expect(faults()).toEqual([]);
  });

  it('shows availability, response times with their thresholds, and missed slots as no failures', async () => {
    const account = await newAccount();
    await addFailingCheck(account, service());
    const { page, goto, faults } = await open(account);
    await goto('/checks/orders');
    const availability = page.getByRole('region', { name: 'Availability', exact: true });
    await availability.getByText('4 of 272 runs failed').first().waitFor();
    const times = page.getByRole('region', { name: 'Response time' });
    await times
      .getByRole('img', { name: /^Averages of the last 24 h: Wait .* First byte/ })
      .waitFor();
    await times
      .getByText(/Hatched: 18 slots not run, which are no failures \(agent stopped\)/)
      .waitFor();
    await times.getByRole('link', { name: 'By location' }).click();
    await times.getByRole('img', { name: /dc-2 .*, office|office .*, dc-2/ }).waitFor();
    expect(page.url()).toContain('by=location');
    await times.getByRole('link', { name: '7 days' }).click();
    await times.getByRole('img', { name: /of the last 7 days/ }).waitFor();
    expect(faults()).toEqual([]);
  });

  it('folds retries, filters the runs by the address, and goes from page to page', async () => {
    const account = await newAccount();
    await addFailingCheck(account, service());
    const { page, goto } = await open(account);
    await goto('/checks/orders?result=failed');
    const runs = page.getByRole('table', { name: 'Runs' });
    await expect.poll(() => runs.getByRole('row').count()).toBe(5);
    await runs.getByRole('button', { name: '1 earlier attempt' }).first().click();
    await runs.getByRole('link', { name: 'Attempt 1' }).waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await expect.poll(() => runs.getByRole('row').count()).toBe(26);
    const newest = await runs.getByRole('row').nth(1).textContent();
    await page.getByRole('button', { name: 'Older runs' }).click();
    await page.waitForURL(/page=2/);
    await expect.poll(() => runs.getByRole('row').nth(1).textContent()).not.toBe(newest);
    await page.getByRole('button', { name: 'Latest runs' }).click();
    await expect.poll(() => runs.getByRole('row').nth(1).textContent()).toBe(newest);
  });

  it('shows a new failure by itself', async () => {
    const account = await newAccount();
    const keys = await addLocations(account, service(), ['office']);
    await addCheck(account, service(), 'orders', { ...ORDERS, privateLocations: ['office'] });
    const { page, goto } = await open(account);
    await goto('/checks/orders');
    await page.getByText('This check has not run yet').waitFor();
    await page.getByRole('status').filter({ hasText: 'Live', visible: true }).waitFor();
    const slotMs = slotAgo(1);
    const run = {
      checkId: 'orders',
      name: ORDERS.name,
      checkType: 'API',
      slotMs,
      location: 'office',
    } as const;
    await deliver(service(), keys.office, [
      runOf(run, {
        responseTime: 10_014,
        hasFailures: true,
        apiCheckResult: timeoutDetail(slotMs, null),
      }),
    ]);
    await page.getByRole('region', { name: 'Why, and what to try' }).waitFor();
    await page.locator('.page-header').getByText('Failing').waitFor();
  });

  it('pauses and mutes, and undoes it', async () => {
    const account = await newAccount();
    await addLocations(account, service(), ['office']);
    await addCheck(account, service(), 'orders', { ...ORDERS, privateLocations: ['office'] });
    const { page, goto, faults } = await open(account);
    await goto('/checks/orders');
    const stored = async () => (await account.get('/v1/checks/orders')).json;
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('The check is paused').waitFor();
    expect((await stored()).activated).toBe(false);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await expect.poll(async () => (await stored()).activated).toBe(true);
    await page.getByRole('button', { name: 'Mute', exact: true }).click();
    await page.getByRole('button', { name: 'Unmute' }).waitFor();
    expect((await stored()).muted).toBe(true);
    expect(faults()).toEqual([]);
  });

  it('copies the check as a check file and as curl', async () => {
    const account = await newAccount();
    await addLocations(account, service(), ['office']);
    await addCheck(account, service(), 'orders', { ...ORDERS, privateLocations: ['office'] });
    const { page, goto } = await open(account);
    await goto('/checks/orders');
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Copy as YAML…' }).click();
    await page.getByRole('dialog').getByText('checks:').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Copy as curl…' }).click();
    const text = await page.getByRole('dialog').locator('code').first().textContent();
    expect(text).toContain("--header 'accept: application/json'");
  });

  it('says who would be notified next time and why, also when the channels change', async () => {
    const account = await newAccount();
    await addLocations(account, service(), ['office']);
    await addCheck(account, service(), 'orders', { ...ORDERS, privateLocations: ['office'] });
    const { page, goto, faults } = await open(account);
    await goto('/checks/orders');
    const recipients = page.getByRole('region', { name: 'Who would be notified next time' });
    await recipients.getByText('Nobody now').waitFor();
    await recipients.getByRole('link', { name: 'Choose a channel for it' }).waitFor();
    await account.post('/v1/alert-channels', {
      type: 'EMAIL',
      config: { address: 'on-call@example.com' },
      subscriptions: [{ checkId: 'orders' }],
    });
    await recipients.getByRole('link', { name: 'on-call@example.com' }).waitFor();
    await recipients.getByText('It is subscribed to this check').waitFor();
    await recipients.getByText('By the settings of the account.').waitFor();
    expect(faults()).toEqual([]);
  });

  it('follows a run on request until its result is there', async () => {
    const account = await newAccount();
    const keys = await addLocations(account, service(), ['office']);
    await addCheck(account, service(), 'orders', { ...ORDERS, privateLocations: ['office'] });
    const { page, goto } = await open(account);
    await goto('/checks/orders');
    const asked = page.waitForResponse((response) =>
      response.url().endsWith('/v1/checks/orders/run'),
    );
    await page.getByRole('button', { name: 'Run now' }).click();
    const run = await (await asked).json();
    await page.getByText('Waiting for an agent at office').waitFor();
    const result = runOf(
      {
        checkId: 'orders',
        name: ORDERS.name,
        checkType: 'API',
        slotMs: run.checkRunId,
        location: 'office',
      },
      { responseTime: 90, apiCheckResult: httpDetail(90) },
    );
    const id = resultIdOf(run.sequenceId, 1);
    await deliver(service(), keys.office, [{ ...result, sequenceId: run.sequenceId, id }]);
    await page.getByRole('link', { name: 'See its result' }).click();
    await page.locator('.page-header').getByText('Passed').waitFor();
  });

  it('cancels a run that it follows, and says so', async () => {
    const account = await newAccount();
    await addLocations(account, service(), ['office']);
    await addCheck(account, service(), 'orders', { ...ORDERS, privateLocations: ['office'] });
    const { page, goto } = await open(account);
    await goto('/checks/orders');
    const asked = page.waitForResponse((response) =>
      response.url().endsWith('/v1/checks/orders/run'),
    );
    await page.getByRole('button', { name: 'Run now' }).click();
    const run = await (await asked).json();
    await page.getByRole('button', { name: 'Cancel the run' }).click();
    await page.getByText('The run at office was cancelled').waitFor();
    expect(await page.getByRole('button', { name: 'Cancel the run' }).count()).toBe(0);
    expect((await account.get(`/v1/check-runs/${run.id}`)).json.state).toBe('cancelled');
  });

  it('says why a run cannot be followed, and stops asking once it is gone', async () => {
    const account = await newAccount();
    await addLocations(account, service(), ['office']);
    await addCheck(account, service(), 'orders', { ...ORDERS, privateLocations: ['office'] });
    const { page, goto, axe } = await open(account);
    await page.clock.install();
    await goto('/checks/orders');
    let [status, asked] = [503, 0];
    await page.route('**/v1/check-runs/*', (route) => {
      asked += 1;
      return route.fulfill({ status, json: { message: `answer ${status}` } });
    });
    await page.getByRole('button', { name: 'Run now' }).click();
    await page.getByText('The run cannot be followed: answer 503').waitFor();
    expect(await page.getByRole('button', { name: 'Cancel the run' }).count()).toBe(0);
    expect(await axe()).toEqual([]);
    status = 404;
    // By itself, without the button.
    await page.getByText('The run cannot be followed: answer 404').waitFor();
    const before = asked;
    // Longer than it waits after two failures, and shorter than the live events may be silent.
    await page.clock.runFor(20_000);
    expect(asked).toBe(before);
    await page.unroute('**/v1/check-runs/*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Waiting for an agent at office').waitFor();
    await page.getByRole('button', { name: 'Cancel the run' }).click();
    await page.getByText('The run at office was cancelled').waitFor();
  });

  it('shows the role read no control that it may not use', async () => {
    const account = await newAccount('read');
    await addLocations(account, service(), ['office']);
    await addCheck(account, service(), 'orders', { ...ORDERS, privateLocations: ['office'] });
    const { page, goto } = await open(account);
    await goto('/checks/orders');
    await page.getByRole('button', { name: 'More' }).waitFor();
    const names = await page.locator('.page-header').getByRole('button').allTextContents();
    expect(names).toEqual(['More']);
    await page.getByRole('button', { name: 'More' }).click();
    expect(await page.getByRole('menuitem').allTextContents()).toEqual([
      'Copy as YAML…',
      'Copy as curl…',
    ]);
  });

  it.each([
    { theme: 'light', width: 360 },
    { theme: 'dark', width: 1_440 },
  ] as const)('has no violation of axe on both pages ($theme, $width px)', async (view) => {
    const account = await newAccount();
    const { failedId } = await addFailingCheck(account, service());
    const { page, goto, axe, faults } = await open(account, view);
    for (const path of ['', `/results/${failedId}`, `/results/${failedId}?compare=last-passing`]) {
      await goto(`/checks/orders${path}`);
      await page.getByRole('region', { name: 'Why, and what to try' }).waitFor();
      if (path === '') await page.locator('.check-chart').first().waitFor();
      expect(await axe()).toEqual([]);
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      expect([path, overflow]).toEqual([path, 0]);
    }
    expect(faults()).toEqual([]);
  });

  it('says that a check or a run does not exist', async () => {
    const account = await newAccount();
    await addLocations(account, service(), ['office']);
    await addCheck(account, service(), 'orders', { ...ORDERS, privateLocations: ['office'] });
    const { page, goto } = await open(account);
    await goto('/checks/none');
    await page.getByText('There is no such check').waitFor();
    await goto('/checks/orders/results/none');
    await page.getByText('There is no such run').waitFor();
  });

  it('compares a failed run with the last that passed, and says which files are gone', async () => {
    const account = await newAccount();
    const keys = await addLocations(account, service(), ['office']);
    await addCheck(account, service(), 'orders', { ...ORDERS, privateLocations: ['office'] });
    const of = {
      checkId: 'orders',
      name: ORDERS.name,
      checkType: 'API',
      location: 'office',
    } as const;
    const slotMs = slotAgo(500);
    const lost = timeoutDetail(slotMs, '/v1/artifacts/00000000-0000-8000-8000-000000000000');
    await deliver(service(), keys.office, [
      runOf({ ...of, slotMs: slotAgo(501) }, { responseTime: 90, apiCheckResult: httpDetail(90) }),
      runOf({ ...of, slotMs }, { responseTime: 10_014, hasFailures: true, apiCheckResult: lost }),
    ]);
    const { page, goto } = await open(account);
    await goto(`/checks/orders/results/${resultIdOf(sequenceIdOf('orders', 'office', slotMs), 1)}`);
    await page.getByText('are no longer stored').waitFor();
    await page.getByRole('button', { name: 'Compare with the last passing run' }).click();
    const row = page.getByRole('row').filter({ hasText: 'CONNECT_TIMEOUT' });
    await row.getByText('differs').waitFor();
    expect(page.url()).toContain('compare=last-passing');
    await page.goBack();
    await page.getByRole('region', { name: 'Job log' }).waitFor();
  });
});
