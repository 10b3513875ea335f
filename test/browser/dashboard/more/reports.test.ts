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
      expect.stringMatching(/^BasketAPI100 %80 ms80 ms$/),
      expect.stringMatching(/^IdleAPIno runs––$/),
      expect.stringMatching(/^SearchAPI50 %640 ms640 ms$/),
    ]);
    await page.getByRole('button', { name: 'Sort: name' }).click();
    await page.getByRole('menuitemradio', { name: 'lowest availability' }).click();
    await expect.poll(() => rows.first().textContent()).toMatch(/^Search/);
    expect(new URL(page.url()).search).toBe('?sort=availability');
    const head = page.getByRole('columnheader', { name: 'Availability' });
    expect(await head.getAttribute('aria-sort')).toBe('ascending');
    await goto('/reports?tag=slow&range=last24Hours');
    await page.getByText('1 check', { exact: true }).waitFor();
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
    await goto('/reports?tag=shop&sort=p95');
    await page.getByText('2 checks', { exact: true }).waitFor();
    const downloaded = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).click();
    const file = await downloaded;
    expect(file.suggestedFilename()).toMatch(/^vedette-report-\d{4}-\d\d-\d\d\.csv$/);
    const lines = (await text(await file.createReadStream())).trimEnd().split('\r\n');
    expect(lines).toEqual([
      'id,name,type,from,to,availability_percent,response_time_p50_ms,response_time_p95_ms',
      expect.stringMatching(/^search,Search,API,20\S+Z,20\S+Z,50,640,640$/),
      expect.stringMatching(/^basket,Basket,API,20\S+Z,20\S+Z,100,80,80$/),
    ]);
  });

  it('says which report is refused, reads the others, and the list again on request', async () => {
    const account = await newAccount();
    await addReportedChecks(account, service());
    const { page, goto } = await open(account);
    await page.route('**/v1/analytics/api-checks/search?*', (route) =>
      route.fulfill({ status: 400, json: { message: 'ask for a shorter window' } }),
    );
    await page.route('**/v1/check-statuses?*', (route) =>
      route.fulfill({ status: 503, body: '{}' }),
    );
    await goto('/reports');
    await page.getByRole('alert').getByText('The service responded with status 503.').waitFor();
    await page.unroute('**/v1/check-statuses?*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('tr', { hasText: /Search.*ask for a shorter window/ }).waitFor();
    await page.locator('tr', { hasText: /Basket.*100 %/ }).waitFor();
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
