import type { Route } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startCli } from '../../../support/agent/cli.ts';
import { makeTempFolder } from '../../../support/process/temp-folder.ts';
import { LACKING } from '../../support/browser.ts';
import { useDashboard } from '../../support/dashboard.ts';
import { makeLocation, poll } from './location-scenes.ts';

/** The environment that a pasted `docker run` gives its container: what is exported and passed on. */
function environmentOf(lines: string): Record<string, string> {
  const exported = new Map(
    [...lines.matchAll(/^export (\w+)=(.+)$/gm)].map(([, name = '', value = '']) => [name, value]),
  );
  const passed = [...lines.matchAll(/ -e (\w+)/g)].map(([, name = '']) => name);
  return Object.fromEntries(passed.map((name) => [name, exported.get(name) ?? '']));
}

describe.skipIf(LACKING !== null)('the pages of locations', () => {
  const { service, newAccount, open } = useDashboard();

  it('lead from nothing to a location whose agent, started by the copied line, arrives', async () => {
    const { page, goto, faults } = await open(await newAccount());
    await goto('/locations');
    await page.getByText('There is no location yet').waitFor();
    await page.getByRole('button', { name: 'New location' }).click();
    // The first field has the focus.
    await page.getByLabel('Name').waitFor();
    await page.keyboard.type('Büro Köln');
    expect(await page.getByLabel('Slug').inputValue()).toBe('buro-koln');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Büro Köln', level: 1 }).waitFor();
    await page.getByText('Waiting for an agent…').waitFor();

    await page.getByRole('button', { name: 'Create a key' }).first().click();
    await page.getByText('it is not shown again').waitFor();
    const lines = (await page.getByRole('tabpanel').locator('.block code').textContent()) ?? '';
    const env = environmentOf(lines);
    const { API_KEY: key = '' } = env;
    expect(env).toEqual({
      SERVICE_URL: service().url,
      API_KEY: expect.stringMatching(/^pl_[0-9a-f]{32}$/),
    });
    const data = makeTempFolder();
    onTestFinished(data.remove);
    // What the image sets, and a free port.
    startCli(['agent'], { ...env, DATA_DIR: data.path, AGENT_HEALTH_PORT: '0' });
    const arrival = page.getByRole('tabpanel').getByRole('status').filter({ hasText: 'Arrived' });
    await arrival.waitFor();
    expect(await arrival.textContent()).toContain('version 0.1.0');
    await page.getByRole('banner').or(page.locator('.page-header')).getByText('Online').waitFor();
    const agent = page.getByRole('table', { name: 'Agents' }).getByRole('row').nth(1);
    // It reports its health, which agents of earlier releases do not.
    await expect.poll(() => agent.textContent()).toMatch(/Online.*0\.1\.0.*0 of 100/s);
    expect(await agent.locator('[title*="earlier release"]').count()).toBe(0);

    // The key is not shown a second time.
    await page.reload();
    await page.getByText(`${key.slice(0, 9)}…`).waitFor();
    expect(await page.content()).not.toContain(key);
    expect(faults()).toEqual([]);
  });

  it('list what needs somebody first, and change by themselves when an agent comes', async () => {
    const account = await newAccount();
    const [online, silent, other] = [
      await makeLocation(account, 'berlin', 'Berlin'),
      await makeLocation(account, 'oslo', 'Oslo', 1),
      await makeLocation(account, 'paris', 'Paris'),
    ];
    await poll(service(), account, online, 'one');
    await service().store.query(
      `update agents set lease_until = now() + interval '1 hour' where location_id = $1`,
      [online],
    );
    await poll(service(), account, silent, 'two');
    await service().store.query(
      `update agents set lease_until = null, last_seen_at = now() - interval '20 minutes'
       where location_id = $1`,
      [silent],
    );
    const { page, goto, faults } = await open(account);
    await goto('/locations');
    const rows = page.getByRole('table', { name: 'Locations' }).locator('tbody tr');
    await rows.first().waitFor();
    const texts = () => rows.allTextContents();
    await expect
      .poll(texts)
      .toEqual([
        expect.stringMatching(/^Oslo.*Silent/),
        expect.stringMatching(/^Berlin.*Online/),
        expect.stringMatching(/^Paris.*No agent yet/),
      ]);
    await poll(service(), account, other, 'three');
    await page.getByRole('row', { name: /Paris.*Online/ }).waitFor();
    // By keyboard.
    await rows.first().focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Berlin', level: 1 }).waitFor();
    await expect.poll(() => page.title()).toBe('Berlin – Vedette');
    await page.goBack();
    await rows.first().waitFor();
    expect(faults()).toEqual([]);
  });

  it('rotate keys: two at most, and a deleted one is said to be lost before', async () => {
    const account = await newAccount();
    const id = await makeLocation(account, 'berlin', 'Berlin');
    await account.post(`/v1/private-locations/${id}/keys`);
    const { page, goto, faults } = await open(account);
    await goto(`/locations/${id}`);
    const rotate = page.getByRole('button', { name: 'Rotate: create the next key' });
    await rotate.click();
    await page.getByText('There are two active keys').waitFor();
    expect(await rotate.count()).toBe(0);
    await page
      .getByRole('button', { name: /^Delete key/ })
      .first()
      .click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.textContent()).toContain('cannot be undone');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await page.getByRole('button', { name: /^Delete key/ }).count()).toBe(2);
    await page
      .getByRole('button', { name: /^Delete key/ })
      .first()
      .click();
    await page.getByRole('button', { name: 'Delete the key' }).click();
    await rotate.waitFor();
    expect(await page.getByRole('button', { name: /^Delete key/ }).count()).toBe(1);
    expect(faults()).toEqual([]);
  });

  it('end an agent, which can be undone, and say if that fails', async () => {
    const account = await newAccount();
    const id = await makeLocation(account, 'berlin', 'Berlin');
    await poll(service(), account, id, 'one');
    await service().store.query(`update agents set lease_until = now() + interval '1 hour'`);
    const { page, goto, faults } = await open(account);
    await goto(`/locations/${id}`);
    const end = page.getByRole('button', { name: 'End agent one' });
    const refuse = (route: Route) => route.fulfill({ status: 503, body: '{}' });
    await page.route('**/agents/one', refuse, { times: 1 });
    await end.click();
    await page.getByRole('status').getByText('The service responded with status 503.').waitFor();
    await end.click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('It may poll again').waitFor();
    const [agent] = (await account.get(`/v1/private-locations/${id}/agents`)).json;
    expect(agent).toMatchObject({ live: false, endedAt: null });
    // The browser itself logs the error.
    expect(faults().filter((fault) => !fault.includes('status of 503'))).toEqual([]);
  });

  it('change a location, and say which checks still use one that is to be deleted', async () => {
    const account = await newAccount();
    const id = await makeLocation(account, 'berlin', 'Berlin', 1);
    const { page, goto } = await open(account);
    await goto(`/locations/${id}`);
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Proxy of its checks').fill('ftp://proxy');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/must be the http or https address of a proxy/).waitFor();
    await page.getByLabel('Proxy of its checks').fill('');
    await page.getByLabel('Name').fill('Berlin Mitte');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Berlin Mitte', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('button', { name: 'Delete the location' }).click();
    await page
      .getByRole('dialog')
      .getByText(/remove it from them first/)
      .waitFor();
    const [check] = (await account.get('/v1/checks')).json;
    await account.delete(`/v1/checks/${check.id}`);
    await page.getByRole('button', { name: 'Delete the location' }).click();
    await page.getByText('There is no location yet').waitFor();
    expect(new URL(page.url()).pathname).toBe('/locations');
  });

  it('show a user of the role read no control that the API would refuse', async () => {
    const account = await newAccount('read');
    const id = await makeLocation(account, 'berlin', 'Berlin');
    await account.post(`/v1/private-locations/${id}/keys`);
    await poll(service(), account, id, 'one');
    const { page, goto, faults } = await open(account);
    await goto('/locations');
    await page.getByRole('link', { name: 'Berlin' }).waitFor();
    expect(await page.getByRole('button', { name: 'New location' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Berlin' }).click();
    await page.getByRole('table', { name: 'Keys' }).waitFor();
    const named = /Edit|Delete|key|^End/;
    expect(await page.locator('main').getByRole('button', { name: named }).count()).toBe(0);
    expect(faults()).toEqual([]);
  });

  it.each([
    { theme: 'light', width: 360 },
    { theme: 'dark', width: 1_440 },
  ] as const)(
    'have no violation of axe and do not scroll sideways ($theme, $width px)',
    async (view) => {
      const account = await newAccount();
      const id = await makeLocation(account, 'berlin', 'A location with a long name '.repeat(6), 2);
      await account.post(`/v1/private-locations/${id}/keys`);
      await poll(service(), account, id, 'one');
      const { page, goto, axe, faults } = await open(account, view);
      for (const path of ['/locations', `/locations/${id}?start=kubernetes`]) {
        await goto(path);
        await page.getByRole('table').first().waitFor();
        expect(await axe(), path).toEqual([]);
        const overflow = await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        );
        expect(overflow, `pixels that ${path} scrolls sideways`).toBe(0);
      }
      await page.getByRole('button', { name: 'Edit' }).click();
      expect(await axe(), 'a window').toEqual([]);
      expect(faults()).toEqual([]);
    },
  );

  it('say what is wrong if the location does not exist', async () => {
    const { page, goto } = await open(await newAccount());
    await goto('/locations/6b0e8f3a-0000-4000-8000-000000000000');
    const alert = page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.textContent()).toMatch(/private location.*Not Found.*request/s);
  });
});
