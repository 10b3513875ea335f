import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { LACKING } from '../../support/browser.ts';
import { useDashboard } from '../../support/dashboard.ts';
import { addReportedChecks } from './report-samples.ts';

describe.skipIf(LACKING !== null)('the page of reports', () => {
  const { service, newAccount, open } = useDashboard();

  it('shows how all checks with runs did, the worst first on request, and filters by the address', async () => {
    const account = await newAccount('read');
    await addReportedChecks(account, service());
    const { page, goto, faults } = await open(account);
    await goto('/reports');
    await page.getByText('3 checks', { exact: true }).waitFor();
    const rows = page.locator('tbody tr');
    expect(await rows.allTextContents()).toEqual([
      expect.stringMatching(
        /^BasketAPI100 %80 ms80 msWait 0\.10 ms, DNS 1\.9 ms, TCP 12 ms, First/,
      ),
      expect.stringMatching(/^IdleAPIno runs––$/),
      expect.stringMatching(/^SearchAPI50 %640 ms640 msWait /),
    ]);
    await page.getByRole('button', { name: 'Sort: name' }).click();
    await page.getByRole('menuitemradio', { name: 'lowest availability' }).click();
    await expect.poll(() => rows.first().textContent()).toMatch(/^Search/);
    expect(new URL(page.url()).search).toBe('?sort=availability');
    const head = page.getByRole('columnheader', { name: 'Availability' });
    expect(await head.getAttribute('aria-sort')).toBe('ascending');
    // An order of an earlier release.
    await goto('/reports?tag=slow&range=last24Hours&sort=p95');
    await page.getByText('1 check', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Sort: name' }).waitFor();
    expect(await rows.allTextContents()).toEqual([expect.stringMatching(/^Search/)]);
    await goto('/reports?from=2020-01-01&to=2020-01-31');
    await page.getByText('3 checks', { exact: true }).waitFor();
    expect(await page.getByText('no runs').count()).toBe(3);
    await goto('/reports?from=2020-01-31&to=2020-01-01');
    await page.getByText('The range ends before it begins').waitFor();
    expect(faults()).toEqual([]);
  });

  it('hands out what it shows as CSV', async () => {
    const account = await newAccount();
    await addReportedChecks(account, service());
    const { page, goto } = await open(account);
    await goto('/reports?tag=shop&sort=max');
    await page.getByText('2 checks', { exact: true }).waitFor();
    const downloaded = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).click();
    const file = await downloaded;
    expect(file.suggestedFilename()).toMatch(/^vedette-report-\d{4}-\d\d-\d\d\.csv$/);
    const lines = (await text(await file.createReadStream())).trimEnd().split('\r\n');
    expect(lines).toEqual([
      expect.stringMatching(/^id,name,type,from,to,runs,failures,availability_percent,/),
      expect.stringMatching(/^search,Search,API,20\S+Z,20\S+Z,10,5,50,640,640,0\.1,1\.9,12\.4,,/),
      expect.stringMatching(/^basket,Basket,API,20\S+Z,20\S+Z,10,0,100,80,80,0\.1,1\.9,12\.4,,/),
    ]);
  });

  it('says what went wrong, and reads the reports again on request, all by one request', async () => {
    const account = await newAccount();
    await addReportedChecks(account, service());
    const { page, goto, requests } = await open(account);
    const reports = '**/v1/analytics/summaries?*';
    await page.route(reports, (route) =>
      route.fulfill({ status: 400, json: { message: 'ask for a shorter window' } }),
    );
    await goto('/reports');
    await page.getByRole('alert').getByText('ask for a shorter window').waitFor();
    await page.unroute(reports);
    const before = requests.length;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('tr', { hasText: /Basket.*100 %/ }).waitFor();
    const asked = requests.slice(before).filter((url) => url.includes('/v1/analytics/'));
    expect(asked).toHaveLength(1);
  });

  it.each([
    { theme: 'light', width: 360 },
    { theme: 'dark', width: 1_440 },
  ] as const)(
    'has no violation of axe and does not scroll sideways ($theme, $width px)',
    async (view) => {
      const account = await newAccount();
      const { page, goto, axe, faults } = await open(account, view);
      await goto('/reports');
      await page.getByText('No check to report on').waitFor();
      expect(await axe()).toEqual([]);
      await addReportedChecks(account, service());
      await page.reload();
      await page.getByText('3 checks', { exact: true }).waitFor();
      expect(await axe()).toEqual([]);
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      expect(overflow).toBe(0);
      expect(faults()).toEqual([]);
    },
  );
});
