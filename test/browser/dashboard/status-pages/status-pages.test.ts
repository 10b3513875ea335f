import { describe, expect, it } from 'vitest';
import { LACKING, THEMES } from '../../support/browser.ts';
import { useDashboard } from '../../support/dashboard.ts';
import { makePage, prepareIncidents } from '../incidents/incident-scenes.ts';

const PATH = '/v1/status-pages';

describe.skipIf(LACKING !== null)('the pages of status pages', () => {
  const { service, newAccount, open } = useDashboard();

  it('lead from nothing to a page that readers open, with its preview beside the form', async () => {
    const account = await newAccount();
    const { page, goto, faults } = await open(account);
    await goto('/status-pages');
    await page.getByRole('heading', { name: 'There is no status page yet' }).waitFor();
    await page.getByRole('button', { name: 'New page' }).press('Enter');
    await page.getByRole('dialog').getByLabel('Name').waitFor();
    const url = `shop-${account.accountId.slice(0, 8)}`;
    await page.keyboard.type('Shop status');
    expect(await page.getByLabel('Address').inputValue()).toBe('shop-status');
    await page.getByLabel('Address').fill('No address');
    await page.getByRole('button', { name: 'Create the page' }).click();
    await page.getByText(/must be 1 to 63 lower-case letters/).waitFor();
    await page.getByLabel('Address').fill(url);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Shop status' }).waitFor();

    await page.getByRole('button', { name: 'Add a card' }).click();
    await page.getByLabel('Name of a new service of Services').fill('Checkout');
    await page.keyboard.press('Enter');
    const preview = page.getByRole('region', { name: 'Preview' });
    await preview.getByText('Checkout').waitFor();
    await preview.getByText('Shown once it is saved').waitFor();
    await page.getByLabel('Description').fill('How the shop is');
    await preview.getByText('How the shop is').waitFor();
    await page.getByText('Colours').click();
    await page.getByLabel('Body background').first().fill('#102030');
    const background = preview.locator('.status-pages-preview');
    expect(await background.evaluate((div) => div.style.background)).toBe('rgb(16, 32, 48)');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('is saved.').waitFor();
    const [stored] = (await account.get(PATH)).json;
    expect(stored).toMatchObject({
      description: 'How the shop is',
      themeColors: { light: { bodyBackgroundColor: '#102030' } },
      cards: [{ name: 'Services', services: [{ name: 'Checkout' }] }],
    });
    // A page that was read meanwhile is kept for a few seconds.
    const shown = async () => (await fetch(`${service().url}/status/${url}`)).text();
    await expect.poll(shown).toContain('Checkout');
    expect(faults().filter((fault) => !fault.includes('status of 400'))).toEqual([]);
  });

  it('order cards and services by keyboard and by pointer', async () => {
    const account = await newAccount();
    const { pageId } = await makePage(account, service());
    const { page, goto, faults } = await open(account);
    await goto(`/status-pages/${pageId}`);
    const order = async () =>
      (await account.get(`${PATH}/${pageId}`)).json.cards.map(
        ({ name, services }: { name: string; services: readonly { name: string }[] }) =>
          [name, ...services.map((each) => each.name)].join(' '),
      );
    const save = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByRole('button', { name: 'Undo changes' }).waitFor({ state: 'detached' });
    };
    await page.getByRole('button', { name: 'Move Mail up' }).press('Enter');
    await page.getByRole('button', { name: 'Add a card' }).click();
    await page.getByRole('button', { name: 'Move Services up' }).press('Enter');
    await save();
    await expect.poll(order).toEqual(['Services', 'Products Mail Shop']);
    const services = page.getByRole('list', { name: 'Services of Products' }).locator('li');
    await services.nth(0).locator('.status-pages-handle').dragTo(services.nth(1));
    await save();
    await expect.poll(order).toEqual(['Services', 'Products Shop Mail']);
    expect(faults()).toEqual([]);
  });

  it('say how many follow a page, what its domain lacks, and let it be private', async () => {
    const account = await newAccount();
    const { pageId, url } = await makePage(account, service());
    const domain = `status-${account.accountId.slice(0, 8)}.example`;
    const { page, goto, faults } = await open(account);
    await goto(`/status-pages/${pageId}`);
    await page.locator('.page-header').getByText('2 subscribers').waitFor();
    await page.getByLabel('Domain of your own').fill(domain);
    await page.getByLabel('Private').check();
    await page.getByLabel('Password').fill('correct horse battery');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.locator('.page-header').getByText('private').waitFor();
    expect((await account.get(`${PATH}/${pageId}`)).json).toMatchObject({
      customDomain: domain,
      isPrivate: true,
      hasPassword: true,
    });
    expect((await fetch(`${service().url}/status/${url}`)).status).toBe(404);
    await page.getByRole('button', { name: `Check ${domain}` }).click();
    await page.getByText('Not ready').waitFor({ timeout: 60_000 });
    await page.getByRole('button', { name: 'Delete' }).click();
    expect(await page.getByRole('dialog').textContent()).toContain('its subscribers are deleted');
    await page.getByRole('button', { name: 'Delete the page' }).click();
    await page.getByRole('heading', { name: 'There is no status page yet' }).waitFor();
    expect(faults().filter((fault) => !fault.includes('status of 404'))).toEqual([]);
  });

  it('do not overwrite what somebody else has saved', async () => {
    const account = await newAccount();
    const { pageId } = await makePage(account, service());
    const { page, goto } = await open(account);
    await goto(`/status-pages/${pageId}`);
    await page.getByLabel('Description').fill('Mine');
    await account.patch(`${PATH}/${pageId}`, { description: 'Theirs' });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('has changed this page meanwhile').waitFor();
    expect(await page.getByLabel('Description').inputValue()).toBe('Mine');
    await page.getByRole('button', { name: 'Drop my changes and load theirs' }).click();
    await expect.poll(() => page.getByLabel('Description').inputValue()).toBe('Theirs');
  });

  it('show what measures a service, change it, and say what readers see of it', async () => {
    const account = await newAccount();
    const { pageId, shop } = await makePage(account, service());
    const heartbeat = await account.post('/v1/checks/heartbeats', {
      name: 'Nightly backup',
      heartbeat: { period: 1, periodUnit: 'DAYS', grace: 1, graceUnit: 'HOURS' },
    });
    await account.patch(`/v1/status-pages/services/${shop}`, { heartbeatIds: [heartbeat.json.id] });
    const { page, goto, faults } = await open(account);
    await goto(`/status-pages/${pageId}`);
    await page.getByRole('button', { name: 'Edit Mail' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Search: Heartbeats that measure it').fill('nightly');
    await dialog.getByRole('checkbox', { name: 'Nightly backup' }).check();
    await dialog.getByLabel('Tags').fill('mail, "Berlin, Mitte"');
    await dialog.getByLabel('It has an outage').selectOption('LOCATIONS');
    await dialog.getByLabel('Number of locations').fill('3');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const services = (await account.get('/v1/status-pages/services')).json;
    expect(services.find(({ name }: { name: string }) => name === 'Mail')).toMatchObject({
      heartbeatIds: [heartbeat.json.id],
      checkTags: ['mail', 'Berlin, Mitte'],
      failureRule: 'LOCATIONS',
      failureLocations: 3,
    });
    await page.getByRole('region', { name: 'Preview' }).getByText('No data').waitFor();
    const subscribers = page.getByRole('region', { name: 'Subscribers' });
    await subscribers
      .getByRole('button', { name: /^Remove / })
      .first()
      .click();
    await dialog.getByRole('button', { name: 'Remove the subscriber' }).click();
    await page.locator('.page-header').getByText('1 subscriber').waitFor();
    expect(faults()).toEqual([]);
  });

  it('show a reader no control', async () => {
    const account = await newAccount('read');
    const { pageId } = await makePage(account, service());
    const { page, goto, faults } = await open(account);
    await goto(`/status-pages/${pageId}`);
    expect(await page.getByLabel('Description').isDisabled()).toBe(true);
    for (const name of ['Save', 'Delete', 'New page', /^Check /]) {
      expect(await page.getByRole('button', { name }).count(), String(name)).toBe(0);
    }
    expect(faults()).toEqual([]);
  });

  it.each(THEMES)('have no violation of axe and do not scroll sideways (%s)', async (theme) => {
    const account = await newAccount();
    await prepareIncidents(account, service());
    const [{ id }] = (await account.get(PATH)).json;
    for (const width of [360, 1_440]) {
      const { page, goto, axe, faults } = await open(account, { theme, width });
      for (const path of ['/status-pages', `/status-pages/${id}`]) {
        await goto(path);
        await expect.poll(() => page.locator('.skeleton').count()).toBe(0);
        if (path !== '/status-pages') await page.getByText('Colours').click();
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
