import { describe, expect, it } from 'vitest';
import { LACKING, THEMES } from '../../support/browser.ts';
import { useDashboard } from '../../support/dashboard.ts';
import { makePage, prepareIncidents } from './incident-scenes.ts';

const PATH = '/v1/status-pages/incidents';
const FIRST = { status: 'INVESTIGATING', description: 'We look into it.' };

describe.skipIf(LACKING !== null)('the pages of incidents', () => {
  const { service, newAccount, open } = useDashboard();

  it('lead from a draft to subscribers who are notified, and to a resolved incident', async () => {
    const account = await newAccount();
    const { url } = await makePage(account, service());
    const publicPage = async () => (await account.get(`/status/${url}/summary.json`)).text;
    const { page, goto, faults } = await open(account);
    await goto('/incidents');
    await page.getByRole('heading', { name: 'There is no incident' }).waitFor();
    await page.getByRole('button', { name: 'New incident' }).press('Enter');
    await page.getByLabel('Name').waitFor();
    await page.keyboard.type('Payments are slow');
    await page.getByRole('checkbox', { name: 'Shop' }).check();
    await page.getByLabel('What readers should know').fill('We look into it.');
    await page.getByLabel('Draft').check();
    await page.getByLabel('Notify the subscribers').check();
    await page.getByText('Up to 2 subscribers of Acme status will be notified.').waitFor();
    await page.getByRole('button', { name: 'Keep as a draft' }).click();
    await page.getByRole('heading', { level: 1, name: 'Payments are slow' }).waitFor();
    const [made] = (await account.get(PATH)).json;
    expect(made).toMatchObject({ isDraft: true, severity: 'MAJOR' });
    expect(await publicPage()).not.toContain('Payments');

    await page.getByRole('button', { name: 'Publish' }).click();
    const dialog = page.getByRole('dialog', { name: 'Publish Payments are slow' });
    await dialog.getByText('Up to 2 subscribers of Acme status will be notified.').waitFor();
    await dialog.getByRole('button', { name: 'Publish' }).click();
    await page.getByText('Payments are slow is published.').waitFor();
    await expect.poll(publicPage).toContain('Payments are slow');

    const add = page.getByRole('region', { name: 'Updates' });
    await add.getByLabel('Status').selectOption('Resolved');
    await add.getByRole('button', { name: 'Add the update' }).click();
    const text = add.getByLabel('What readers should know');
    await expect.poll(() => text.getAttribute('aria-invalid')).toBe('true');
    await text.fill('All is <b>well</b> again.');
    await add.getByRole('button', { name: 'Add the update' }).click();
    await page.locator('.page-header').getByText('Resolved').waitFor();
    const updates = page.getByRole('list', { name: 'Updates, newest first' }).locator('li');
    expect(await updates.first().textContent()).toContain('All is <b>well</b> again.');
    expect(await updates.last().textContent()).toContain('subscribers notified');
    await page.goBack();
    await page.getByRole('region', { name: 'Open' }).getByText('No incident is open.').waitFor();
    // The browser logs the refused request itself.
    expect(faults().filter((fault) => !fault.includes('status of 400'))).toEqual([]);
  });

  it('show a post-mortem as readers will see it, and let no HTML through', async () => {
    const account = await newAccount();
    const { shop } = await makePage(account, service());
    const resolved = { ...FIRST, status: 'RESOLVED' };
    const made = await account.post(PATH, {
      name: 'Mail was down',
      severity: 'MINOR',
      services: [shop],
      incidentUpdates: [resolved],
    });
    const { page, goto, faults } = await open(account);
    await goto(`/incidents/${made.json.id}`);
    const text = '## Cause\n\nA **disk** <img src=x onerror=alert(1)> [evil](javascript:alert(1))';
    await page.getByLabel('What happened and why').fill(text);
    const preview = page.locator('.incidents-preview');
    await preview.getByRole('heading', { name: 'Cause' }).waitFor();
    expect(await preview.locator('strong').textContent()).toBe('disk');
    expect(await preview.locator('img').count()).toBe(0);
    expect(await preview.locator('a[href^="javascript"]').count()).toBe(0);
    await page.getByRole('button', { name: 'Save the post-mortem' }).click();
    await page.getByText('The post-mortem is saved.').waitFor();
    const stored = (await account.get(`${PATH}/${made.json.id}`)).json;
    expect(stored.postMortem).toBe(text);
    // At once again: the first saving was its own.
    await page.getByLabel('What happened and why').fill(`${text}, and more`);
    await page.getByRole('button', { name: 'Save the post-mortem' }).click();
    await expect
      .poll(async () => (await account.get(`${PATH}/${made.json.id}`)).json.postMortem)
      .toBe(`${text}, and more`);
    // Somebody else writes meanwhile: neither text is lost.
    await page.getByLabel('What happened and why').fill('Mine');
    await account.patch(`${PATH}/${made.json.id}`, { postMortem: 'Theirs' });
    await page.getByRole('button', { name: 'Save the post-mortem' }).click();
    await page.getByText('has changed this incident meanwhile').waitFor();
    expect(await page.getByLabel('What happened and why').inputValue()).toBe('Mine');
    await page.getByRole('button', { name: 'Drop my changes and load theirs' }).click();
    await expect.poll(() => page.getByLabel('What happened and why').inputValue()).toBe('Theirs');
    expect(faults().filter((fault) => !fault.includes('status of 412'))).toEqual([]);
  });

  it('keep an update that is being written while others change the incident', async () => {
    const account = await newAccount();
    const { shop } = await makePage(account, service());
    const made = await account.post(PATH, {
      name: 'Mail is down',
      severity: 'MINOR',
      services: [shop],
      incidentUpdates: [FIRST],
    });
    const { page, goto, faults } = await open(account);
    await goto(`/incidents/${made.json.id}`);
    const text = page.getByLabel('What readers should know');
    const add = page.getByRole('button', { name: 'Add the update' });
    // Another at once: the first one was its own.
    for (const written of ['One disk is full', 'It is replaced']) {
      await text.fill(written);
      await add.click();
      await expect.poll(() => text.inputValue()).toBe('');
    }
    await text.fill('Mine');
    // No update: nothing to ask about.
    await account.patch(`${PATH}/${made.json.id}`, { severity: 'CRITICAL' });
    await page.getByText('Major outage').waitFor();
    const path = `${PATH}/${made.json.id}/incident-updates`;
    await account.post(path, { ...FIRST, description: 'Theirs' });
    await page.getByText(/has changed this incident meanwhile: .*updates/).waitFor();
    expect(await text.inputValue()).toBe('Mine');
    await page.getByRole('button', { name: 'Keep my changes' }).click();
    await add.click();
    await expect.poll(() => text.inputValue()).toBe('');
    const { incidentUpdates } = (
      await account.get(`${PATH}/${made.json.id}?includeAllIncidentUpdates=true`)
    ).json;
    expect(incidentUpdates.map(({ description }: { description: string }) => description)).toEqual([
      FIRST.description,
      'One disk is full',
      'It is replaced',
      'Theirs',
      'Mine',
    ]);
    expect(faults().filter((fault) => !fault.includes('status of 412'))).toEqual([]);
  });

  it('list what is open first, live, and delete an incident with its address', async () => {
    const account = await newAccount();
    const { shop } = await makePage(account, service());
    const body = { name: 'A', severity: 'CRITICAL', services: [shop], incidentUpdates: [FIRST] };
    const { page, goto, faults } = await open(account);
    await goto('/incidents');
    await page.getByRole('heading', { name: 'There is no incident' }).waitFor();
    const made = await account.post(PATH, { ...body, name: 'Live' });
    await page.getByRole('region', { name: 'Open' }).getByRole('link', { name: 'Live' }).click();
    await page.getByRole('heading', { level: 1, name: 'Live' }).waitFor();
    await page.getByText('Major outage').waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete the incident' }).click();
    await page.getByRole('heading', { name: 'There is no incident' }).waitFor();
    expect((await account.get(`${PATH}/${made.json.id}`)).status).toBe(404);
    expect(faults().filter((fault) => !fault.includes('status of 404'))).toEqual([]);
  });

  it('show a reader no control, and the API refuses', async () => {
    const account = await newAccount('read');
    await prepareIncidents(account, service());
    const { page, goto, faults } = await open(account);
    await goto('/incidents');
    await page.getByRole('link', { name: 'Mail was not delivered' }).click();
    await page.getByRole('heading', { name: 'What happened' }).waitFor();
    expect(await page.getByRole('textbox').count()).toBe(0);
    for (const name of ['Edit', 'Delete', 'Publish', /^Add the update/, /^Save/]) {
      expect(await page.getByRole('button', { name }).count(), String(name)).toBe(0);
    }
    const refused = await page.evaluate(async () => {
      const headers = { 'content-type': 'application/json' };
      const path = '/v1/status-pages/incidents';
      return (await fetch(path, { method: 'POST', headers, body: '{}' })).status;
    });
    expect([400, 403]).toContain(refused);
    expect(faults().filter((fault) => !/status of 40[03]/.test(fault))).toEqual([]);
  });

  it.each(THEMES)('have no violation of axe and do not scroll sideways (%s)', async (theme) => {
    const account = await newAccount();
    await prepareIncidents(account, service());
    const ids = (await account.get(PATH)).json.map(({ id }: { id: string }) => id);
    for (const width of [360, 1_440]) {
      const { page, goto, axe, faults } = await open(account, { theme, width });
      for (const path of ['/incidents', `/incidents/${ids[0]}`, `/incidents/${ids[2]}`]) {
        await goto(path);
        await expect.poll(() => page.locator('.skeleton').count()).toBe(0);
        expect(await axe(), path).toEqual([]);
        const overflow = await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        );
        expect(overflow, `pixels that ${path} scrolls sideways`).toBe(0);
      }
      await goto('/incidents');
      await page.getByRole('button', { name: 'New incident' }).click();
      await page.getByRole('dialog').waitFor();
      expect(await axe(), 'the form').toEqual([]);
      expect(faults()).toEqual([]);
    }
  });
});
