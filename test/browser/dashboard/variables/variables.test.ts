import { describe, expect, it } from 'vitest';
import { LACKING } from '../../support/browser.ts';
import { useDashboard } from '../../support/dashboard.ts';
import { addVariables } from './variable-samples.ts';

describe.skipIf(LACKING !== null)('the page of variables', () => {
  const { newAccount, open } = useDashboard();

  it('shows no secret and no locked value, and which checks use a variable', async () => {
    const account = await newAccount();
    await addVariables(account);
    const { page, goto, faults } = await open(account);
    await goto('/variables');
    const list = page.getByRole('table', { name: 'Variables of the account' });
    await list
      .locator('tr', { hasText: /BASE_URL.*https:\/\/shop\.example\.com.*6 checks/ })
      .waitFor();
    await list.locator('tr', { hasText: /API_TOKEN.*secret, never shown.*6 checks/ }).waitFor();
    await list.locator('tr', { hasText: /CUSTOMER.*locked.*Orders/ }).waitFor();
    await list.locator('tr', { hasText: /OLD_BASE_URL.*no check/ }).waitFor();
    expect(await page.locator('main').textContent()).not.toMatch(/10023|vt_9f2c/);
    await list
      .locator('tr', { hasText: /API_TOKEN/ })
      .locator('summary')
      .click();
    expect(await list.getByRole('link', { name: 'Checkout' }).getAttribute('href')).toMatch(
      /\/checks\/checkout$/,
    );
    await page.getByRole('button', { name: 'Used: any' }).click();
    await page.getByRole('menuitemradio', { name: 'by no check' }).click();
    await expect.poll(() => list.locator('tbody tr').count()).toBe(1);
    expect(new URL(page.url()).search).toBe('?use=unused');
    expect(faults()).toEqual([]);
  });

  it('defines a name that checks use, and keeps what was typed after a refusal', async () => {
    const account = await newAccount();
    await addVariables(account);
    const { page, goto, faults } = await open(account);
    await goto('/variables');
    const missing = page.getByRole('table', { name: 'Undefined variables' });
    await missing.locator('tr', { hasText: /SHOP_ID.*Orders/ }).waitFor();
    await page.getByRole('button', { name: 'Define SHOP_ID' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('SHOP-ID');
    await dialog.getByLabel('Value', { exact: true }).fill('17');
    await dialog.getByRole('button', { name: 'Create the variable' }).click();
    await dialog.getByText(/must be letters, digits and underscores/).waitFor();
    expect(await dialog.getByLabel('Value', { exact: true }).inputValue()).toBe('17');
    await dialog.getByLabel('Name').and(page.locator(':focus')).waitFor();
    await dialog.getByLabel('Name').fill('SHOP_ID');
    await page.keyboard.press('Enter');
    await expect.poll(() => missing.count()).toBe(0);
    expect((await account.get('/v1/variables/SHOP_ID')).json).toMatchObject({ value: '17' });
    // The refusal is in the console of the browser.
    expect(faults().filter((fault) => !fault.includes('400'))).toEqual([]);
  });

  it('replaces a secret without showing it, keeps it if nothing is given, and refuses to overwrite others', async () => {
    const account = await newAccount();
    await addVariables(account);
    const { page, goto } = await open(account);
    await goto('/variables');
    await page.getByRole('button', { name: 'Edit CUSTOMER' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel('New value').inputValue()).toBe('');
    await dialog.getByLabel('Locked').uncheck();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.locator('tr', { hasText: /CUSTOMER.*10023/ }).waitFor();
    await page.getByRole('button', { name: 'Edit CUSTOMER' }).click();
    await dialog.getByLabel('Value', { exact: true }).fill('mine');
    await account.patch('/v1/variables/CUSTOMER', { value: 'theirs' });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText(/first.*has changed this variable/).waitFor();
    expect(await dialog.getByLabel('Value', { exact: true }).inputValue()).toBe('mine');
    await dialog.getByRole('button', { name: 'Drop my changes' }).click();
    await expect
      .poll(() => dialog.getByLabel('Value', { exact: true }).inputValue())
      .toBe('theirs');
    await dialog.getByLabel('Value', { exact: true }).fill('both');
    page.once('dialog', (asked) => void asked.dismiss());
    await page.keyboard.press('Escape');
    expect(await dialog.getByLabel('Value', { exact: true }).inputValue()).toBe('both');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.locator('tr', { hasText: /CUSTOMER.*both/ }).waitFor();
  });

  it('shows no form of a variable before it is read, and reads it again after an error', async () => {
    const account = await newAccount();
    await addVariables(account);
    const { page, goto } = await open(account);
    await goto('/variables');
    const answers = [503, 200];
    await page.route('**/v1/variables/BASE_URL', async (route) => {
      if (answers.shift() === 503) await route.fulfill({ status: 503, body: '{}' });
      else await route.continue();
    });
    await page.getByRole('button', { name: 'Edit BASE_URL' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('The service responded with status 503.').waitFor();
    expect(await dialog.getByLabel('Value').count()).toBe(0);
    expect(await dialog.getByRole('button', { name: 'Save' }).count()).toBe(0);
    await dialog.getByRole('button', { name: 'Try again' }).click();
    const value = dialog.getByLabel('Value', { exact: true });
    await value.fill('https://shop.example.org');
    const sent = page.waitForRequest((request) => request.method() === 'PATCH');
    await dialog.getByRole('button', { name: 'Save' }).click();
    expect((await sent).headers()['if-match']).toMatch(/^"/);
    await page.locator('tr', { hasText: /BASE_URL.*shop\.example\.org/ }).waitFor();
  });

  it('drops what was typed for theirs with one question, also if theirs could not be read at first', async () => {
    const account = await newAccount();
    await addVariables(account);
    const { page, goto } = await open(account);
    await goto('/variables');
    await page.getByRole('button', { name: 'Edit BASE_URL' }).click();
    const dialog = page.getByRole('dialog');
    const value = dialog.getByLabel('Value', { exact: true });
    await value.fill('https://mine.example.com');
    await account.patch('/v1/variables/BASE_URL', { value: 'https://theirs.example.com' });
    await page.route('**/v1/variables/BASE_URL', (route) =>
      route.request().method() === 'GET'
        ? route.fulfill({ status: 503, body: '{}' })
        : route.continue(),
    );
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('Theirs could not be read').waitFor();
    expect(await value.inputValue()).toBe('https://mine.example.com');
    await page.unroute('**/v1/variables/BASE_URL');
    await dialog.getByRole('button', { name: 'Drop my changes' }).click();
    await expect.poll(() => value.inputValue()).toBe('https://theirs.example.com');
    expect(await dialog.getByText('has changed this variable').count()).toBe(0);
  });

  it('names the checks that lose a variable before it is deleted, and restores one that is shown', async () => {
    const account = await newAccount();
    await addVariables(account);
    const { page, goto, faults } = await open(account);
    await goto('/variables');
    await page.getByRole('button', { name: 'Delete BASE_URL' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('6 checks use it').waitFor();
    await dialog.getByRole('link', { name: 'Basket' }).waitFor();
    await dialog.getByRole('button', { name: 'Delete the variable' }).click();
    await page.locator('tr', { hasText: /BASE_URL.*6 checks.*Define/ }).waitFor();
    expect((await account.get('/v1/variables/BASE_URL')).status).toBe(404);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.locator('tr', { hasText: /BASE_URL.*https:\/\/shop/ }).waitFor();
    expect(faults()).toEqual([]);
  });

  it('lets a user of the role read see names and uses, and change nothing', async () => {
    const account = await newAccount('read');
    await addVariables(account);
    const { page, goto, faults } = await open(account);
    await goto('/variables');
    await page.locator('tr', { hasText: /CUSTOMER.*locked.*Orders/ }).waitFor();
    expect(
      await page
        .locator('main')
        .getByRole('button', { name: /^(New|Edit|Delete|Define)/ })
        .count(),
    ).toBe(0);
    expect(faults()).toEqual([]);
  });

  it.each([
    { theme: 'light', width: 360 },
    { theme: 'dark', width: 1_440 },
  ] as const)(
    'has no violation of axe and does not scroll sideways ($theme, $width px)',
    async (view) => {
      const account = await newAccount();
      await addVariables(account);
      const { page, goto, axe, faults } = await open(account, view);
      await goto('/variables');
      await page.locator('tr', { hasText: /API_TOKEN.*6 checks/ }).waitFor();
      expect(await axe()).toEqual([]);
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      expect(overflow).toBe(0);
      await page.getByRole('button', { name: 'Edit API_TOKEN' }).click();
      await page.getByLabel('New value').waitFor();
      expect(await axe()).toEqual([]);
      expect(faults()).toEqual([]);
    },
  );
});
