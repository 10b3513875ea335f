import { describe, expect, it } from 'vitest';
import { LACKING } from '../../support/browser.ts';
import { useDashboard } from '../../support/dashboard.ts';
import {
  addSampleChecks,
  addSampleLocation,
  sampleResult,
  sendResults,
} from '../../support/sample-account.ts';
import { addBadDay, addManyChecks, addQuietChecks } from './overview-samples.ts';

const MINUTE_MS = 60_000;
/** Other processes may use the machine. */
const SLOW = { timeout: 30_000 };

describe.skipIf(LACKING !== null)('the overview', () => {
  const { service, newAccount, open } = useDashboard();
  const badDay = async (role?: 'read') => {
    const account = await newAccount(role);
    await addBadDay(account, service());
    return account;
  };
  /** For tests that change nothing. */
  let shared: ReturnType<typeof newAccount> | null = null;
  const sharedBadDay = () => {
    shared ??= badDay();
    return shared;
  };

  it('says what to do where there are no checks, with a command to copy', async () => {
    const { page, goto, axe, faults } = await open(await newAccount());
    await goto('/');
    await page.getByRole('heading', { name: 'There are no checks yet' }).waitFor();
    expect(await page.locator('.copyable code').textContent()).toContain(
      `SERVICE_URL=${service().url}`,
    );
    expect(await axe()).toEqual([]);
    expect(faults()).toEqual([]);
  });

  it.each([
    { theme: 'light', width: 1_440, responseTime: '30 s' },
    { theme: 'dark', width: 360, responseTime: 'now 30 s' },
  ] as const)(
    'shows first what is broken, since when, why and from where ($theme, $width px)',
    async ({ responseTime, ...view }) => {
      const { page, goto, axe, faults } = await open(await sharedBadDay(), view);
      await goto('/');
      const broken = page.getByRole('list', { name: 'Checks that need attention' });
      const orders = broken.getByRole('listitem').filter({ hasText: 'Orders API' });
      await orders.waitFor();
      expect(await broken.getByRole('listitem').first().textContent()).toMatch(/Failing/);
      expect(await orders.textContent()).toMatch(
        /Failing[\s\S]*CONNECT_TIMEOUT[\s\S]*did not answer within 30 s/,
      );
      expect(await orders.getByRole('img').getAttribute('aria-label')).toMatch(
        /^Last 24 hours: failed in [12] of 96 quarter-hours$/,
      );
      // On a narrow screen it is next to the time since when it fails.
      // biome-ignore lint/performance/useDomNodeTextContent: textContent has the word also where it is not shown
      expect(await orders.locator('.overview-now').innerText()).toBe(responseTime);
      await page.getByRole('link', { name: '2 failing' }).waitFor();
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      expect(overflow, 'pixels that scroll sideways').toBe(0);
      expect(await axe()).toEqual([]);
      expect(faults()).toEqual([]);
    },
  );

  it('says that nobody is notified until there is a channel', async () => {
    const account = await newAccount();
    const { page, goto } = await open(account);
    const heartbeat = { period: 1, periodUnit: 'HOURS', grace: 5, graceUnit: 'MINUTES' };
    await account.post('/v1/checks/heartbeats', { name: 'Backup', heartbeat });
    await goto('/');
    const hint = page.getByRole('link', { name: 'Nobody is notified: add a channel' });
    await hint.waitFor();
    await page.getByRole('status').filter({ hasText: 'Live' }).filter({ visible: true }).waitFor();
    await account.post('/v1/alert-channels', {
      type: 'EMAIL',
      config: { address: 'ops@example.com' },
    });
    await hint.waitFor({ state: 'detached' });
  });

  it('keeps filters and search in the address, and Back leaves them', async () => {
    const { page, goto } = await open(await sharedBadDay());
    await goto('/');
    await page.getByRole('link', { name: '2 failing' }).click();
    await expect.poll(() => page.url(), SLOW).toContain('state=failing');
    const items = page
      .getByRole('main')
      .getByRole('listitem')
      .filter({ has: page.getByRole('checkbox') });
    await expect.poll(() => items.count(), SLOW).toBe(2);
    await page.goBack();
    await expect.poll(() => items.count(), SLOW).toBeGreaterThan(10);
    await page.keyboard.press('/');
    await page.keyboard.type('orders');
    await expect.poll(() => new URL(page.url()).search, SLOW).toBe('?search=orders');
    await expect.poll(() => items.count(), SLOW).toBe(1);
    await page.reload();
    await expect.poll(() => items.count(), SLOW).toBe(1);
    expect(await page.getByLabel('Search checks').inputValue()).toBe('orders');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await expect.poll(() => items.count(), SLOW).toBeGreaterThan(10);
    await page.getByRole('button', { name: /^Type/ }).press('ArrowDown');
    await page.locator('[role=menuitemradio]:focus').waitFor();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'No check matches these filters' }).waitFor();
  });

  it('groups checks by what the address says, each section with its counts and, where it is open, its rows', async () => {
    const account = await sharedBadDay();
    const { page, goto, axe, faults } = await open(account);
    await goto('/');
    await page.getByRole('link', { name: 'Orders API' }).waitFor();
    await page.getByRole('button', { name: /^Group by/ }).press('ArrowDown');
    await page.getByRole('menuitemradio', { name: 'Tag' }).click();
    await expect.poll(() => new URL(page.url()).search, SLOW).toBe('?group-by=tag');
    const heads = page.locator('.overview-section');
    await expect.poll(() => heads.count(), SLOW).toBe(3);
    // The sections with the most failing checks come first.
    const texts = await heads.allTextContents();
    expect(texts.map((text) => /^[a-z]+/.exec(text)?.[0])).toEqual([
      'production',
      'shop',
      'staging',
    ]);
    expect(texts[1]).toMatch(/^shop4 checks2 failing1 degraded1 unknown$/);
    const items = page.getByRole('listitem').filter({ has: page.getByRole('checkbox') });
    expect(await items.count()).toBe(0);
    const shop = page.getByRole('button', { name: /^shop/ });
    await shop.press('Enter');
    await expect.poll(() => items.count(), SLOW).toBe(4);
    await page.getByRole('link', { name: 'Orders API' }).waitFor();
    expect(await shop.getAttribute('aria-expanded')).toBe('true');
    await page.getByRole('button', { name: /^staging/ }).click();
    await expect.poll(() => items.count(), SLOW).toBeGreaterThan(4);
    expect(new URL(page.url()).searchParams.getAll('open')).toEqual(['shop', 'staging']);
    expect(await axe()).toEqual([]);
    await page.reload();
    await page.getByRole('link', { name: 'Orders API' }).waitFor();
    await shop.click();
    await expect.poll(() => page.getByRole('link', { name: 'Orders API' }).count(), SLOW).toBe(0);
    expect(faults()).toEqual([]);
  });

  it('groups by group and location, with a section for the checks without', async () => {
    const account = await sharedBadDay();
    const { page, goto, axe, faults } = await open(account, { theme: 'dark', width: 360 });
    await goto('/?group-by=group&open-rest=true');
    const heads = page.locator('.overview-section');
    await expect.poll(() => heads.count(), SLOW).toBe(2);
    expect(await heads.first().textContent()).toMatch(/^Shop4 checks/);
    expect(await heads.last().textContent()).toMatch(/^Without a group36 checks/);
    await page.getByRole('link', { name: 'Homepage', exact: true }).waitFor();
    const overflow = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    expect(overflow, 'pixels that scroll sideways').toBe(0);
    expect(await axe()).toEqual([]);
    await page.getByRole('button', { name: 'Run group Shop' }).click();
    await page.getByText(/^Shop: (?:waiting for an agent|0 of \d+ runs ended)/).waitFor();
    await page.getByRole('button', { name: 'Cancel the run' }).click();
    await page.getByText('Shop: cancelled.').waitFor();
    expect(await axe()).toEqual([]);
    await goto('/?group-by=location&location=office&state=failing');
    await expect.poll(() => heads.allTextContents(), SLOW).toEqual(['office2 checks2 failing']);
    expect(faults()).toEqual([]);
  });

  it('edits the settings of a group, and says at the field what the API refuses', async () => {
    const account = await newAccount();
    const { json: group } = await account.post('/v1/check-groups', { name: 'Shop' });
    const { json: snippet } = await account.post('/v1/snippets', { name: 'Sign in', script: '1' });
    const request = { url: 'https://shop.example.com/' };
    const check = { checkType: 'API', locations: ['eu-west-1'], groupId: group.id, request };
    expect((await account.put('/v1/checks/cart', check)).status).toBe(200);
    const { page, goto, axe } = await open(account, { theme: 'dark', width: 360 });
    await goto('/?group-by=group');
    await page.getByRole('button', { name: 'Edit group Shop' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('Web shop');
    await dialog.getByLabel('Tags', { exact: true }).fill('web, shop');
    await dialog.getByLabel('Checks at once').fill('7');
    await dialog.getByLabel('Before the requests of its API checks').fill('sign()');
    const chosen = dialog.getByLabel('Snippet before the requests');
    await chosen.selectOption({ label: 'Sign in' });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('must be null if setupScript is given').waitFor();
    expect(await axe()).toEqual([]);
    await chosen.selectOption({ label: 'none' });
    await dialog.getByLabel('Snippet after the responses').selectOption({ label: 'Sign in' });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Edit group Web shop' }).waitFor();
    expect((await account.get(`/v1/check-groups/${group.id}`)).json).toMatchObject({
      name: 'Web shop',
      tags: ['web', 'shop'],
      concurrency: 7,
      setupScript: 'sign()',
      setupSnippetId: null,
      teardownSnippetId: snippet.id,
      privateLocations: null,
    });
  });

  it.each([
    { theme: 'light', width: 1_440 },
    { theme: 'dark', width: 360 },
  ] as const)(
    'says of which checks nobody is notified, and who has acknowledged an alert ($theme, $width px)',
    async (view) => {
      const account = await newAccount();
      await addQuietChecks(account, service());
      const { page, goto, axe, faults } = await open(account, view);
      await goto('/');
      const row = (name: string) =>
        page.getByRole('listitem').filter({ has: page.getByRole('link', { name, exact: true }) });
      const orders = row('Orders API').getByText(/^Acknowledged by/);
      await orders.waitFor();
      expect(await orders.textContent()).toMatch(/^Acknowledged by \S.* (?:just now|.+ ago)$/);
      await page
        .getByText(/^Acknowledged by/)
        .nth(1)
        .waitFor();
      expect(await row('Router').textContent()).toContain('muted by its group');
      expect(await row('Database').textContent()).toContain('in maintenance');
      expect(await row('Replica').textContent()).toMatch(/muted by its group.*in maintenance/);
      expect(await row('Homepage').locator('.chip').allTextContents()).toEqual(['URL', 'muted']);
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      expect(overflow, 'pixels that scroll sideways').toBe(0);
      expect(await axe()).toEqual([]);
      const { json } = await account.get('/v1/check-alerts?open=true&checkId=orders');
      await page.getByRole('status').filter({ hasText: 'Live' }).first().waitFor({
        state: 'attached',
      });
      await account.post(`/v1/check-alerts/${json[0].id}/unacknowledge`, {});
      await orders.waitFor({ state: 'detached' });
      await goto('/checks/replica');
      await page.getByText('muted by its group').waitFor();
      await page.getByText('in maintenance').waitFor();
      await goto('/checks/search');
      await page.getByText('acknowledged', { exact: true }).waitFor();
      expect(await axe()).toEqual([]);
      expect(faults()).toEqual([]);
    },
  );

  it.each([
    { theme: 'light', width: 1_440 },
    { theme: 'dark', width: 360 },
  ] as const)(
    'makes groups, and deletes them after a question ($theme, $width px)',
    async (view) => {
      const account = await newAccount();
      const { page, goto, axe, faults } = await open(account, view);
      await goto('/?group-by=group');
      await page.getByRole('button', { name: 'New group' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name', { exact: true }).fill('Shop');
      expect(await dialog.getByLabel('Checks at once').inputValue()).toBe('3');
      expect(await dialog.getByLabel('Checks at once').getAttribute('max')).toBe('100');
      expect(await axe()).toEqual([]);
      // The button is in view although the form is higher than the window.
      const make = dialog.getByRole('button', { name: 'Create the group' });
      const [whole, button] = [await dialog.boundingBox(), await make.boundingBox()];
      expect((button?.y ?? Number.POSITIVE_INFINITY) + (button?.height ?? 0)).toBeLessThanOrEqual(
        (whole?.y ?? 0) + (whole?.height ?? 0),
      );
      await make.click();
      await page.getByText('The group Shop is saved.').waitFor();
      const empty = page.getByRole('region', { name: /^Groups without checks/ });
      await empty.getByText('Shop').waitFor();
      const [group] = (await account.get('/v1/check-groups')).json;
      expect(group).toMatchObject({ name: 'Shop', concurrency: 3, activated: true, muted: false });
      // With a check the group has a section of its own.
      const request = { url: 'https://shop.example.com/' };
      const check = { checkType: 'URL', locations: ['eu-west-1'], groupId: group.id, request };
      expect((await account.put('/v1/checks/cart', check)).status).toBe(200);
      await page.getByRole('button', { name: 'Run group Shop' }).waitFor();
      await empty.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Edit group Shop' }).click();
      await dialog.getByLabel('Name', { exact: true }).fill('Web shop');
      // Unsaved changes are not lost without a question.
      page.once('dialog', (question) => void question.dismiss());
      await dialog.getByRole('button', { name: 'Delete the group…' }).click();
      expect(await dialog.getByLabel('Name', { exact: true }).inputValue()).toBe('Web shop');
      await dialog.getByLabel('Name', { exact: true }).fill('Shop');
      await dialog.getByRole('button', { name: 'Delete the group…' }).click();
      await dialog.getByText('Its checks stay, without a group.').waitFor();
      expect(await axe()).toEqual([]);
      await dialog.getByRole('button', { name: 'Delete the group', exact: true }).click();
      await page.getByText('The group Shop is deleted.').waitFor();
      await page.getByRole('button', { name: /^Without a group/ }).waitFor();
      expect((await account.get(`/v1/check-groups/${group.id}`)).status).toBe(404);
      expect((await account.get('/v1/checks/cart')).json.groupId).toBeNull();
      expect(faults()).toEqual([]);
    },
  );

  it('shows a group that was made or deleted, also without live events', async () => {
    const { page, goto } = await open(await newAccount());
    await page.route('**/v1/events', (route) => route.abort());
    await goto('/?group-by=group');
    await page.getByRole('button', { name: 'New group' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('Shop');
    await dialog.getByRole('button', { name: 'Create the group' }).click();
    const edit = page.getByRole('button', { name: 'Edit group Shop' });
    await edit.click();
    await dialog.getByRole('button', { name: 'Delete the group…' }).click();
    await dialog.getByRole('button', { name: 'Delete the group', exact: true }).click();
    await edit.waitFor({ state: 'detached' });
    // Keyboard and screen reader go on at the page: the button that opened the dialog is gone.
    const focused = page.locator(':focus');
    expect(await focused.evaluate((element) => element.tagName)).toBe('H1');
  });

  it('says that a group is deleted if the response to the first request was lost', async () => {
    const account = await newAccount();
    const { json: group } = await account.post('/v1/check-groups', { name: 'Shop' });
    const { page, goto } = await open(account);
    await goto('/?group-by=group');
    await page.getByRole('button', { name: 'Edit group Shop' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Delete the group…' }).click();
    await page.route(
      `**/v1/check-groups/${group.id}`,
      async (route) => {
        await route.fetch();
        await route.abort();
      },
      { times: 1 },
    );
    const remove = dialog.getByRole('button', { name: 'Delete the group', exact: true });
    await remove.click();
    await dialog.getByText('The service cannot be reached.').waitFor();
    expect((await account.get(`/v1/check-groups/${group.id}`)).status).toBe(404);
    await remove.click();
    await page.getByText('The group Shop is deleted.').waitFor();
    await dialog.waitFor({ state: 'detached' });
  });

  it('says that it has read only some of very many groups', async () => {
    const account = await newAccount();
    await account.post('/v1/check-groups', { name: 'Shop' });
    const { page, goto } = await open(account);
    await page.route(/\/v1\/check-groups\?/, async (route) => {
      const response = await route.fetch();
      const number = Number(new URL(route.request().url()).searchParams.get('page'));
      const [group] = (await account.get('/v1/check-groups')).json;
      const json = Array.from({ length: 100 }, (_, at) => {
        const id = number * 100 + at;
        return { ...group, id, name: `Group ${id}` };
      });
      await route.fulfill({ json, headers: { ...response.headers(), 'x-total-count': '1200' } });
    });
    await goto('/?group-by=group');
    const empty = page.getByRole('region', { name: /^Groups without checks/ });
    await empty.getByText('Only the 1,000 oldest groups are read, of 1,200.').waitFor();
    await empty.getByText('950 more are not shown.').waitFor();
    await goto('/checks/new?type=URL');
    const chosen = page.getByLabel('Group', { exact: true });
    await expect.poll(() => chosen.locator('option').count(), SLOW).toBe(1_001);
    await page.getByText('Only the 1,000 oldest groups are read, of 1,200.').waitFor();
  });

  it('offers as filters all tags, groups and locations that checks have', async () => {
    const { page, goto } = await open(await sharedBadDay());
    await goto('/?state=paused');
    const choices = async (name: RegExp): Promise<readonly (string | null)[]> => {
      await page.getByRole('button', { name }).click();
      await expect.poll(() => page.getByRole('menuitemradio').count(), SLOW).toBeGreaterThan(1);
      const found = await page.getByRole('menuitemradio').allTextContents();
      await page.keyboard.press('Escape');
      return found;
    };
    expect(await choices(/^Tag/)).toEqual(['Any', 'production', 'shop', 'staging']);
    expect(await choices(/^Group: /)).toEqual(['Any', 'Shop']);
    expect(await choices(/^Location/)).toEqual(['Any', 'office']);
  });

  it.each([360, 1_440])('opens its menus within the window (%i px wide)', async (width) => {
    const { page, goto } = await open(await newAccount(), { width });
    await goto('/');
    for (const name of ['Tag: any', 'Location: any', 'Group by: nothing']) {
      await page.getByRole('button', { name }).click();
      const box = await page.getByRole('menu').boundingBox();
      expect(box?.x, name).toBeGreaterThanOrEqual(0);
      expect((box?.x ?? 0) + (box?.width ?? 0), name).toBeLessThanOrEqual(width);
      await page.keyboard.press('Escape');
    }
  });

  it('shows by itself that a check fails and that it recovers', async () => {
    const account = await newAccount();
    const location = await addSampleLocation(account, service(), 'office');
    const check = { id: 'shop', name: 'Shop', cells: '', fields: { frequency: 1 } };
    await addSampleChecks(account, service(), location, [check]);
    const slot = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
    const before = slot - 2 * MINUTE_MS;
    await sendResults(service(), location, [sampleResult(check, location, before, 'p')]);
    const { page, goto, faults } = await open(account);
    await goto('/');
    await page.getByRole('link', { name: '1 passing' }).waitFor();
    await sendResults(service(), location, [sampleResult(check, location, slot - MINUTE_MS, 'f')]);
    await page.getByRole('link', { name: '1 failing' }).waitFor();
    await page.getByText('CONNECT_REFUSED').waitFor();
    await sendResults(service(), location, [sampleResult(check, location, slot, 'p')]);
    await page.getByRole('link', { name: '0 failing' }).waitFor();
    await page.getByRole('heading', { name: /All is well/ }).waitFor();
    expect(faults()).toEqual([]);
  });

  it('mutes and pauses selected checks, with the keyboard, and undoes it', async () => {
    const account = await badDay();
    const { page, goto, axe, faults } = await open(account);
    await goto('/?state=passing');
    const boxes = page.getByRole('checkbox');
    await boxes.first().focus();
    await page.keyboard.press('Space');
    await boxes.nth(2).click({ modifiers: ['Shift'] });
    await page.getByText('3 selected').waitFor();
    expect(await axe()).toEqual([]);
    await page.getByRole('button', { name: 'Pause', exact: true }).press('Enter');
    await page.getByText('Paused 3 checks.').waitFor();
    const paused = async () => (await account.get('/v1/check-state-counts')).json.paused;
    expect(await paused()).toBe(4 + 3);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Resumed 3 checks.').waitFor();
    expect(await paused()).toBe(4);
    expect(faults()).toEqual([]);
  });

  it('changes all checks that match, also those that are not shown, and none if other checks match by now', async () => {
    const account = await newAccount();
    await addManyChecks(account, service(), 59);
    const check = {
      name: 'Whole',
      request: { url: 'https://shop.test/' },
      locations: ['eu-west-1'],
    };
    expect((await account.post('/v1/checks/url', check)).status).toBe(201);
    // The checks that were added by SQL lack fields.
    await service().store.query(
      `update checks c set body = w.body from checks w
       where c.account_id = $1 and w.account_id = $1 and w.name = 'Whole'`,
      [account.accountId],
    );
    const { page, goto, axe, faults } = await open(account);
    await goto('/?type=URL');
    const boxes = page.getByRole('checkbox');
    await boxes.first().click();
    await page.getByRole('button', { name: 'Select all 60 that match' }).click();
    await page.getByText('All 60 that match').waitFor();
    expect(await axe()).toEqual([]);
    const mute = page.getByRole('button', { name: 'Mute', exact: true });
    await page.route(
      /\/v1\/checks\/bulk/,
      async (route) => {
        await service().store.query(
          `insert into checks (account_id, id, check_type, name, activated, muted, frequency, body)
           select account_id, 'other', check_type, 'Other', true, false, 10, body
           from checks where account_id = $1 and id = 'check-1'`,
          [account.accountId],
        );
        await route.continue();
      },
      { times: 1 },
    );
    await mute.click();
    const alert = page.getByRole('region', { name: 'Selected checks' }).getByRole('alert');
    expect(await alert.textContent()).toContain('matches 61 checks, not 60');
    await page.getByText('All 61 that match').waitFor();
    await mute.click();
    await page.getByText('Muted 61 checks.').waitFor();
    const muted = async () =>
      (
        await service().store.query<{ checks: number }>(
          'select count(*)::int as checks from checks where account_id = $1 and muted',
          [account.accountId],
        )
      )[0]?.checks;
    expect(await muted()).toBe(61);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Unmuted 61 checks.').waitFor();
    expect(await muted()).toBe(0);
    await boxes.first().click();
    await page.getByRole('button', { name: 'Select all 61 that match' }).click();
    await boxes.nth(1).click();
    await expect.poll(() => page.locator('.overview-bulk').count(), SLOW).toBe(0);
    // The refusal.
    expect(faults().filter((fault) => !fault.includes('409'))).toEqual([]);
  });

  it('has one line for a silent location instead of a row for each of its checks', async () => {
    const account = await newAccount();
    const { accountId } = account;
    const { store, features } = service();
    await addManyChecks(account, service(), 3);
    await features.privateLocations.create(accountId, { slug: 'depot', name: 'Depot' });
    for (const name of ['Gate', 'Scale', 'Lift', 'Belt', 'Till']) {
      const check = { name, request: { url: 'https://depot.test/' }, privateLocations: ['depot'] };
      expect((await account.post('/v1/checks/url', check)).status).toBe(201);
    }
    await store.query(
      `insert into assignments (location_id, check_id, account_id, unassigned_reason, period_ms,
         phase_ms, stride, stride_index, check_revision, revision)
       select l.id, c.id, c.account_id, 'no_agents', 60000, 0, 1, 0, 1, 1
       from private_locations l join checks c on c.account_id = l.account_id
         and c.body -> 'privateLocations' ? l.slug
       where l.account_id = $1 on conflict do nothing`,
      [accountId],
    );
    await store.query(
      `insert into silent_locations (location_id, account_id, since, covered_until)
       select id, account_id, now() - interval '1 hour', now() from private_locations
       where account_id = $1`,
      [accountId],
    );
    const { page, goto, axe, faults } = await open(account);
    await goto('/');
    const lines = page.getByRole('region', { name: 'Silent locations' }).getByRole('listitem');
    await lines.first().waitFor();
    expect(await lines.count()).toBe(1);
    expect(await lines.first().textContent()).toMatch(
      /No agentDepot: no agent has polled for 1 h, so 5 checks do not run\./,
    );
    await page.getByRole('link', { name: '5 unknown' }).waitFor();
    await expect.poll(() => page.getByRole('checkbox').count(), SLOW).toBe(3);
    expect(await page.getByRole('heading', { name: /^Needs attention/ }).count()).toBe(0);
    expect(await axe()).toEqual([]);
    await page.getByRole('link', { name: 'Show them' }).click();
    await page.getByRole('heading', { name: 'Needs attention 5' }).waitFor();
    expect(new URL(page.url()).search).toBe('?location=depot&silent=true');
    expect(faults()).toEqual([]);
  });

  it('names each check that could not be changed', async () => {
    const account = await badDay();
    const { page, goto } = await open(account);
    await goto('/?state=failing');
    await page.getByRole('checkbox').first().click();
    const name = await page.getByRole('main').locator('.overview-name a').first().textContent();
    await page.route(/\/v1\/checks\/bulk/, async (route) => {
      const { ids } = route.request().postDataJSON();
      await account.delete(`/v1/checks/${ids[0]}`);
      await route.continue();
    });
    await page.getByRole('button', { name: 'Mute', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: '1 check could not be changed' });
    expect(await dialog.textContent()).toContain(name);
    await page.keyboard.press('Escape');
    await expect.poll(() => dialog.count(), SLOW).toBe(0);
  });

  it('offers nothing to select to a user of the role read', async () => {
    const { page, goto } = await open(await badDay('read'));
    await goto('/');
    await page.getByRole('link', { name: 'Orders API' }).waitFor();
    expect(await page.getByRole('checkbox').count()).toBe(0);
  });

  it('says what failed, and shows the checks after another try', async () => {
    const { page, goto } = await open(await sharedBadDay());
    await page.route(/\/v1\/check-state/, (route) =>
      route.fulfill({
        status: 503,
        headers: { 'x-request-id': 'request-7' },
        json: { statusCode: 503, error: 'Service Unavailable', message: 'The database is away' },
      }),
    );
    await goto('/');
    const alert = page.getByRole('alert').first();
    await alert.waitFor();
    expect(await alert.textContent()).toMatch(/The database is away[\s\S]*request-7/);
    await page.unroute(/\/v1\/check-state/);
    await alert.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('link', { name: 'Orders API' }).waitFor();
    await expect.poll(() => alert.count(), SLOW).toBe(0);
  });

  it('holds 10,000 checks with few nodes and little memory, and shows any of them at once', async () => {
    const account = await newAccount();
    await addManyChecks(account, service(), 10_000);
    const { page, goto, faults } = await open(account);
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/v1/check-statuses')) asked.push(request.url());
    });
    await goto('/');
    await page.getByRole('link', { name: '20 failing' }).waitFor();
    const rows = page.locator('.overview-name');
    await rows.first().waitFor();
    const nodes = () => page.evaluate('document.querySelectorAll("*").length');
    expect(await nodes()).toBeLessThan(3_000);
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    await expect.poll(() => rows.count(), SLOW).toBeGreaterThan(10);
    await expect.poll(() => asked.some((url) => /[?&]page=100\b/.test(url)), SLOW).toBe(true);
    expect(await nodes()).toBeLessThan(3_000);
    expect(asked.length).toBeLessThan(12);
    const bytes = await page.evaluate('performance.memory.usedJSHeapSize');
    expect(bytes).toBeLessThan(100_000_000);
    expect(faults()).toEqual([]);
  });
});
