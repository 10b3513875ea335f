import { describe, expect, it } from 'vitest';
import { LACKING } from '../../support/browser.ts';
import { useDashboard } from '../../support/dashboard.ts';
import { addFailures, addSessions, settledGroups } from './finding-samples.ts';

describe.skipIf(LACKING !== null)(
  'the pages of error groups, test sessions and root causes',
  () => {
    const { service, newAccount, open } = useDashboard();

    it('show an error once for all its runs, lead to the first and the last one, and archive it', async () => {
      const account = await newAccount();
      await addFailures(account, service());
      await settledGroups(account);
      const { page, goto, faults } = await open(account);
      await goto('/error-groups');
      const rows = page.locator('tbody tr');
      await rows.first().waitFor();
      expect(await rows.first().textContent()).toMatch(/ECONNREFUSED.*Checkout3/);
      await rows.first().locator('summary').click();
      await rows.first().getByText('berlin').first().waitFor();
      await rows.first().getByRole('link', { name: 'Connection failure' }).waitFor();
      expect(await rows.first().locator('a[href*="/checks/checkout/results/"]').count()).toBe(2);
      await rows.first().getByRole('button', { name: 'Archive' }).click();
      await page.getByRole('menuitem', { name: 'For ever' }).click();
      await expect.poll(() => rows.count()).toBe(1);
      await page.getByRole('button', { name: 'Show: current' }).click();
      await page.getByRole('menuitemradio', { name: 'archived' }).click();
      await page.locator('tr', { hasText: /ECONNREFUSED/ }).waitFor();
      await page.getByRole('button', { name: 'Restore' }).click();
      await page.getByText('No error is archived').waitFor();
      expect(faults()).toEqual([]);
    });

    it('show an analysis with the run that it is about', async () => {
      const account = await newAccount();
      await addFailures(account, service());
      await settledGroups(account);
      const { page, goto, faults } = await open(account);
      await goto('/analyses?check=checkout');
      const rows = page.locator('tbody tr');
      await rows.first().waitFor();
      expect(await rows.count()).toBe(1);
      await rows.first().getByRole('link', { name: 'Connection failure' }).click();
      await page.getByRole('heading', { name: 'Why it failed' }).waitFor();
      await page.getByRole('link', { name: 'the run' }).click();
      await expect
        .poll(() => new URL(page.url()).pathname)
        .toMatch(/^\/checks\/checkout\/results\//);
      expect(faults()).toEqual([]);
    });

    it('show a test session with the runs that did not pass first', async () => {
      const account = await newAccount();
      await addSessions(account);
      const { page, goto, faults } = await open(account);
      await goto('/test-sessions');
      await page.locator('tr', { hasText: /Passed.*Deployment 1841/ }).waitFor();
      await page.getByRole('link', { name: 'Deployment 1842' }).click();
      const failed = page.getByRole('table', { name: 'Runs that did not pass' });
      await failed.locator('tr', { hasText: /Failed.*Checkout.*ECONNREFUSED/ }).waitFor();
      const others = page.getByRole('table', { name: 'Runs without a failure' });
      await others.locator('tr', { hasText: /Passed.*Basket/ }).waitFor();
      expect(faults()).toEqual([]);
    });

    it('let a user of the role read archive nothing', async () => {
      const account = await newAccount('read');
      await addFailures(account, service());
      const { page, goto, faults } = await open(account);
      await goto('/error-groups');
      await page.locator('tbody tr').first().waitFor();
      expect(await page.getByRole('button', { name: 'Archive' }).count()).toBe(0);
      expect(faults()).toEqual([]);
    });

    it.each([
      { theme: 'light', width: 360 },
      { theme: 'dark', width: 1_440 },
    ] as const)(
      'have no violation of axe and do not scroll sideways ($theme, $width px)',
      async (view) => {
        const account = await newAccount();
        await addFailures(account, service());
        const session = await addSessions(account);
        const [analysis] = await settledGroups(account);
        const { page, goto, axe, faults } = await open(account, view);
        for (const path of [
          '/error-groups',
          '/test-sessions',
          `/test-sessions/${session}`,
          '/analyses',
          `/analyses/${analysis.id}`,
        ]) {
          await goto(path);
          await page.locator('main table, main .findings-text').first().waitFor();
          if (path === '/error-groups') await page.locator('summary').first().click();
          expect(await axe(), path).toEqual([]);
          const overflow = await page.evaluate(
            'document.documentElement.scrollWidth - document.documentElement.clientWidth',
          );
          expect(overflow, path).toBe(0);
        }
        expect(faults()).toEqual([]);
      },
    );
  },
);
