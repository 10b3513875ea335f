import { describe, expect, it } from 'vitest';
import { LACKING } from '../support/browser.ts';
import { useDashboard } from '../support/dashboard.ts';

/** The bytes that a first visit may load, compressed. */
const MAX_FIRST_LOAD_BYTES = 150_000;

describe.skipIf(LACKING !== null)('the shell of the dashboard', () => {
  const { service, newAccount, open } = useDashboard();

  it('leads visitors to the sign-in, and back to the same view', async () => {
    const { page, context } = await open(await newAccount());
    await context.clearCookies();
    await page.goto(`${service().url}/?state=failing`);
    expect(page.url()).toBe(`${service().url}/sign-in?next=%2F%3Fstate%3Dfailing`);
  });

  it.each([
    { theme: 'light', width: 360 },
    { theme: 'dark', width: 1_440 },
  ] as const)(
    'has no violation of axe, a silent console and no foreign request ($theme, $width px)',
    async (view) => {
      const { page, goto, axe, faults } = await open(await newAccount(), view);
      await goto('/');
      await page
        .getByRole('status')
        .filter({ hasText: 'Live' })
        .filter({ visible: true })
        .waitFor();
      expect(await page.title()).toBe('Overview – Vedette');
      expect(await axe()).toEqual([]);
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      expect(overflow, 'pixels that scroll sideways').toBe(0);
      expect(faults()).toEqual([]);
    },
  );

  it('loads little at the first visit, and nothing of it again at the next', async () => {
    const { page, goto } = await open(await newAccount());
    const sizes = new Map<string, number>();
    page.on('response', async (response) => {
      if (!/\/assets\/|\/$/.test(new URL(response.url()).pathname)) return;
      const { responseBodySize } = await response.request().sizes();
      sizes.set(response.url(), response.fromServiceWorker() ? 0 : responseBodySize);
    });
    await goto('/');
    await page.waitForLoadState('load');
    const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    expect(sizes.size).toBeGreaterThan(3);
    expect(total).toBeGreaterThan(5_000);
    expect(total).toBeLessThan(MAX_FIRST_LOAD_BYTES);
  });

  it('keeps the chosen theme, and shows it before the first paint of the next visit', async () => {
    const { page, goto } = await open(await newAccount(), { theme: 'light' });
    await goto('/');
    await page.getByRole('button', { name: /example\.com/ }).click();
    await page.getByRole('menuitemradio', { name: 'Dark theme' }).click();
    const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(await ground()).toBe('rgb(14, 17, 19)');
    // Without the script of the dashboard, only the one in the head is left.
    await page.route(/\/assets\/index-.*\.js$/, (route) => route.abort());
    await page.reload();
    expect(await ground()).toBe('rgb(14, 17, 19)');
  });

  it('can be used by keyboard: the content, the menu, and its items', async () => {
    const { page, goto, faults } = await open(await newAccount(), { width: 360 });
    await goto('/');
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').textContent()).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('main');
    await page.getByRole('button', { name: 'Menu' }).focus();
    await page.keyboard.press('Enter');
    const menu = page.getByRole('dialog', { name: 'Menu' });
    await menu.getByRole('link', { name: 'Overview' }).waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => menu.count()).toBe(0);
    expect(await page.locator(':focus').getAttribute('aria-label')).toBe('Menu');
    expect(faults()).toEqual([]);
  });

  it('signs out', async () => {
    const { page, goto } = await open(await newAccount());
    await goto('/');
    await page.getByRole('button', { name: /example\.com/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL(/\/sign-in$/);
    await page.goto(service().url);
    expect(page.url()).toContain('/sign-in?next=');
  });

  it('says that the connection is lost, and comes back by itself', async () => {
    const { page, context, goto } = await open(await newAccount());
    await goto('/');
    const state = page.getByRole('status').filter({ visible: true });
    await state.filter({ hasText: 'Live' }).waitFor();
    await context.setOffline(true);
    await state.filter({ hasText: /Offline since/ }).waitFor();
    await context.setOffline(false);
    await state.filter({ hasText: 'Live' }).waitFor();
  });

  it('has no page at other paths', async () => {
    const { page } = await open(await newAccount());
    const response = await page.goto(`${service().url}/no-such-page`);
    expect(response?.status()).toBe(404);
  });

  it('shows the account that the address names to a user of several', async () => {
    const account = await newAccount();
    const other = await newAccount();
    const { store } = service();
    const { insertMembership } = await import('../../../src/service/users/sql.ts');
    const { userId } = account;
    await insertMembership(store, {
      accountId: other.accountId,
      userId,
      role: 'read',
      createdAtMs: Date.now() + 1,
    });
    const { page, goto } = await open(account);
    await goto(`/?account=${other.accountId}`);
    const asked = page.waitForRequest((request) => request.url().includes('/v1/events'));
    await page.reload();
    expect((await asked).headers()['x-service-account']).toBe(other.accountId);
    const links = page.getByRole('link', { name: 'Overview' });
    expect(await links.first().getAttribute('href')).toBe(`/?account=${other.accountId}`);
  });
});
