import { describe, expect, it } from 'vitest';
import { LACKING, THEMES } from '../../support/browser.ts';
import { useDashboard } from '../../support/dashboard.ts';
import { makeWindow, prepareMaintenance } from './maintenance-scenes.ts';

const PATH = '/v1/maintenance-windows';
const MARCH = '/maintenance?day=2026-03-10';

describe.skipIf(LACKING !== null)('the calendar of maintenance', () => {
  const { newAccount, open } = useDashboard();

  it('is walked by keyboard to a day on which a repeated window is made', async () => {
    const account = await newAccount();
    const { page, goto, faults } = await open(account);
    await goto(MARCH);
    const cell = (day: string) => page.locator(`[data-day="${day}"]`);
    await cell('2026-03-10').focus();
    for (const [key, day] of [
      ['ArrowRight', '2026-03-11'],
      ['ArrowDown', '2026-03-18'],
      ['Home', '2026-03-16'],
      ['End', '2026-03-22'],
      ['ArrowUp', '2026-03-15'],
      ['ArrowLeft', '2026-03-14'],
      ['PageDown', '2026-04-14'],
      ['PageUp', '2026-03-14'],
    ] as const) {
      await page.keyboard.press(key);
      await expect.poll(() => cell(day).evaluate((td) => td.matches(':focus'))).toBe(true);
    }
    expect(new URL(page.url()).search).toBe('?day=2026-03-14');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByLabel('Name').fill('Patches');
    await page.getByLabel('Starts').fill('2030-03-14T10:00');
    await page.getByLabel('Ends').fill('2030-03-14T09:00');
    await page.getByLabel('Repeats').selectOption('WEEK');
    await page.getByLabel('Interval in weeks').fill('2');
    await page.getByLabel('Tags of paused checks').fill('linux, database');
    await page.getByRole('button', { name: 'Create the window' }).click();
    await page.getByText('must be after startsAt').waitFor();
    await expect
      .poll(() => page.getByLabel('Ends').evaluate((input) => input.matches(':focus')))
      .toBe(true);
    await page.getByLabel('Ends').fill('2030-03-14T12:00');
    await page.getByRole('button', { name: 'Create the window' }).click();
    await page.getByText('The window is created.').waitFor();
    const [made] = (await account.get(PATH)).json;
    const local = await page.evaluate("new Date('2030-03-14T10:00').toISOString()");
    expect(made).toMatchObject({
      name: 'Patches',
      startsAt: local,
      repeatUnit: 'WEEK',
      repeatInterval: 2,
      repeatEndsAt: null,
      tags: ['linux', 'database'],
      pauseAllChecks: false,
      silenceAllAlerts: false,
    });
    await page.goto(`${page.url().split('?')[0]}?day=2030-03-28`);
    await cell('2030-03-28')
      .getByRole('button', { name: /Patches/ })
      .waitFor();
    expect(await page.locator('.maintenance-entry').count()).toBe(2);
    expect(faults().filter((fault) => !fault.includes('status of 400'))).toEqual([]);
  });

  it('shows each occurrence, what overlaps and what a window covers, live', async () => {
    const account = await newAccount();
    await prepareMaintenance(account);
    const { page, goto, faults } = await open(account);
    await goto(MARCH);
    const patches = page.locator('.maintenance-entry').filter({ hasText: 'Weekly patches' });
    // 1, 8, 15 and 22 March: it ends before the 29th.
    await expect.poll(() => patches.count()).toBe(4);
    await page.getByText('2 overlap').waitFor();
    await page.locator('.maintenance-entry').filter({ hasText: 'Database upgrade' }).click();
    const dialog = page.getByRole('dialog', { name: 'Database upgrade' });
    expect(await dialog.textContent()).toMatch(
      /Repeatsonce.*pauses checks tagged database.*Network change/,
    );
    await dialog.getByRole('button', { name: 'Close' }).click();
    expect(await page.locator('[data-day="2026-03-20"]').textContent()).toContain(
      'Move of the office',
    );
    await makeWindow(account, {
      name: 'Added elsewhere',
      startsAt: '2026-03-25T09:00:00.000Z',
      endsAt: '2026-03-25T10:00:00.000Z',
    });
    await page.locator('[data-day="2026-03-25"]').getByText('Added elsewhere').waitFor();
    await page.getByRole('button', { name: 'Week', exact: true }).click();
    await expect.poll(() => page.locator('[role="gridcell"]').count()).toBe(7);
    await page.getByRole('button', { name: 'Next week' }).click();
    await expect.poll(() => new URL(page.url()).search).toBe('?view=week&day=2026-03-17');
    expect(faults()).toEqual([]);
  });

  it('changes a window unless somebody else has, and deletes it', async () => {
    const account = await newAccount();
    const id = await makeWindow(account, {});
    const { page, goto } = await open(account);
    const entry = page.locator('.maintenance-entry').filter({ hasText: 'Database upgrade' });
    await goto(MARCH);
    await entry.click();
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Name').fill('Mine');
    await account.patch(`${PATH}/${id}`, { silenceAllAlerts: true });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('has changed this window meanwhile').waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('Mine');
    await page.getByRole('button', { name: 'Drop my changes and load theirs' }).click();
    await expect.poll(() => page.getByLabel('Silences alerts').inputValue()).toBe('all');
    await page.getByLabel('Name').fill('Renamed');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('is saved.').waitFor();
    expect((await account.get(`${PATH}/${id}`)).json).toMatchObject({
      name: 'Renamed',
      silenceAllAlerts: true,
      startsAt: '2026-03-10T09:00:00.000Z',
    });
    await page.locator('.maintenance-entry').filter({ hasText: 'Renamed' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete the window' }).click();
    await page.getByRole('heading', { name: 'There is no maintenance window yet' }).waitFor();
    expect((await account.get(PATH)).json).toEqual([]);
  });

  it('shows a reader no control, and narrow screens a list', async () => {
    const account = await newAccount('read');
    await prepareMaintenance(account);
    const { page, goto, faults } = await open(account, { width: 360 });
    await goto(MARCH);
    const list = page.getByRole('list', { name: 'Windows in this period' });
    await list.getByRole('button', { name: 'Move of the office' }).click();
    expect(await page.getByRole('grid').isVisible()).toBe(false);
    expect(await page.getByRole('dialog').textContent()).toContain('pauses all checks');
    for (const name of ['New window', 'Edit', 'Delete']) {
      expect(await page.getByRole('button', { name }).count(), name).toBe(0);
    }
    expect(faults()).toEqual([]);
  });

  it.each(THEMES)('has no violation of axe and does not scroll sideways (%s)', async (theme) => {
    const account = await newAccount();
    await prepareMaintenance(account);
    for (const width of [360, 1_440]) {
      const { page, goto, axe, faults } = await open(account, { theme, width });
      for (const path of [MARCH, `${MARCH}&view=week`]) {
        await goto(path);
        await expect.poll(() => page.locator('.skeleton').count()).toBe(0);
        expect(await axe(), path).toEqual([]);
        const overflow = await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        );
        expect(overflow, `pixels that ${path} scrolls sideways`).toBe(0);
      }
      await page.getByRole('button', { name: 'New window' }).click();
      await page.getByRole('dialog').waitFor();
      expect(await axe(), 'the form').toEqual([]);
      expect(faults()).toEqual([]);
    }
  });
});
