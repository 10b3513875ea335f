import { describe, expect, it } from 'vitest';
import { LACKING } from '../../support/browser.ts';
import { useDashboard } from '../../support/dashboard.ts';
import { addSnippets } from './snippet-samples.ts';

describe.skipIf(LACKING !== null)('the page of snippets', () => {
  const { newAccount, open } = useDashboard();

  it('makes, changes, deletes and restores a snippet', async () => {
    const account = await newAccount('write');
    const { page, goto, faults } = await open(account);
    await goto('/snippets');
    await page.getByText('There is no snippet yet').waitFor();
    await page.getByRole('button', { name: 'New snippet' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Sign in');
    await dialog.getByLabel('Script').fill('export const a = 1;\nexport const b = 2;\n');
    await dialog.getByRole('button', { name: 'Create the snippet' }).click();
    const row = page.locator('tr', { hasText: /Sign in.*export const a = 1;.*2 lines/ });
    await row.getByRole('button', { name: 'Edit Sign in' }).click();
    await dialog.getByLabel('Script').fill('export const c = 3;');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.locator('tr', { hasText: /Sign in.*export const c = 3;.*1 line/ }).waitFor();
    await page.getByRole('button', { name: 'Delete Sign in' }).click();
    await dialog.getByRole('button', { name: 'Delete the snippet' }).click();
    await page.getByText('There is no snippet yet').waitFor();
    expect((await account.get('/v1/snippets')).json).toEqual([]);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.locator('tr', { hasText: /Sign in.*export const c = 3;/ }).waitFor();
    expect(faults()).toEqual([]);
  });

  it('keeps what was typed if the name is taken or somebody else changed the snippet', async () => {
    const account = await newAccount();
    await addSnippets(account);
    const { page, goto } = await open(account);
    await goto('/snippets');
    await page.getByRole('button', { name: 'Edit Empty' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Sign in');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('There is a snippet of that name already').waitFor();
    await dialog.getByLabel('Name').fill('Mine');
    const [, empty] = (await account.get('/v1/snippets')).json;
    await account.patch(`/v1/snippets/${empty.id}`, { script: 'theirs' });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText(/has changed this snippet meanwhile: script/).waitFor();
    await dialog.getByRole('button', { name: 'Keep my changes' }).click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.locator('tr', { hasText: /Mine.*theirs/ }).waitFor();
  });

  it('lets a user of the role read see snippets and change nothing', async () => {
    const account = await newAccount('read');
    await addSnippets(account);
    const { page, goto, faults } = await open(account);
    await goto('/snippets');
    await page.locator('tr', { hasText: /Empty.*empty/ }).waitFor();
    const buttons = page.locator('main').getByRole('button', { name: /^(New|Edit|Delete)/ });
    expect(await buttons.count()).toBe(0);
    expect(faults()).toEqual([]);
  });

  it.each([
    { theme: 'light', width: 360 },
    { theme: 'dark', width: 1_440 },
  ] as const)(
    'has no violation of axe and does not scroll sideways ($theme, $width px)',
    async (view) => {
      const account = await newAccount();
      const { page, goto, axe, faults } = await open(account, view);
      await goto('/snippets');
      await page.getByText('There is no snippet yet').waitFor();
      expect(await axe()).toEqual([]);
      await addSnippets(account);
      await page.reload();
      await page.locator('tr', { hasText: /One long line/ }).waitFor();
      expect(await axe()).toEqual([]);
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      expect(overflow).toBe(0);
      await page.getByRole('button', { name: 'Edit Sign in' }).click();
      await page.getByLabel('Script').waitFor();
      expect(await axe()).toEqual([]);
      expect(faults()).toEqual([]);
    },
  );

  it('says what went wrong, and reads the list again on request', async () => {
    const account = await newAccount();
    await addSnippets(account);
    const { page, goto } = await open(account);
    await page.route('**/v1/snippets?*', (route) => route.fulfill({ status: 503, body: '{}' }));
    await goto('/snippets');
    await page.getByRole('alert').getByText('The service responded with status 503.').waitFor();
    await page.unroute('**/v1/snippets?*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('tr', { hasText: /Sign in/ }).waitFor();
  });
});
