import { describe, expect, it } from 'vitest';
import { LACKING } from '../../support/browser.ts';
import { useDashboard } from '../../support/dashboard.ts';

describe.skipIf(LACKING !== null)('the pages of settings', () => {
  const { service, newAccount, open } = useDashboard();

  it('make an API key that is shown once and works, and delete it', async () => {
    const { page, goto, faults } = await open(await newAccount());
    await goto('/settings/keys');
    await page.getByRole('row', { name: /first/ }).waitFor();
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('Name').fill('Deployment');
    await page.getByLabel('Role').selectOption('write');
    await page.getByRole('button', { name: 'Create the key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('not shown again').waitFor();
    const key = (await dialog.locator('code').textContent()) ?? '';
    expect(key).toMatch(/^vk_[0-9a-f]{32}$/);
    expect((await service().app.ask('/v1/checks', { key })).status).toBe(200);
    await page.getByRole('button', { name: 'I have kept it' }).click();
    await page.getByRole('row', { name: /Deployment.*write/ }).waitFor();
    expect(await page.content()).not.toContain(key);
    await page.getByRole('button', { name: 'Delete Deployment' }).click();
    await page.getByRole('button', { name: 'Delete the key' }).click();
    await expect.poll(() => page.getByRole('row', { name: /Deployment/ }).count()).toBe(0);
    await page.getByRole('button', { name: 'Show deleted keys' }).click();
    await page.getByRole('row', { name: /Deployment.*Deleted/ }).waitFor();
    expect(faults()).toEqual([]);
  });

  it('invite a user by a link, which can be withdrawn', async () => {
    const account = await newAccount();
    const { page, goto, faults } = await open(account);
    await goto('/settings/users');
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByLabel('Email').fill('jo@example.com');
    await page.getByRole('button', { name: 'Create the link' }).click();
    const link = page.getByRole('dialog').locator('code');
    await link.waitFor();
    expect(await link.textContent()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/invitations\/[\w-]+$/);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('row', { name: /jo@example\.com.*read/ }).waitFor();
    await page.getByRole('button', { name: 'Withdraw jo@example.com' }).click();
    await page.getByRole('button', { name: 'Withdraw it' }).click();
    await expect.poll(() => page.getByText('jo@example.com').count()).toBe(0);
    await page.getByRole('row', { name: new RegExp(account.email) }).waitFor();
    expect(faults()).toEqual([]);
  });

  it('show the own sessions, end another one, and refuse a wrong password with the reason', async () => {
    const account = await newAccount();
    const client = { address: '192.0.2.7', userAgent: 'Firefox/140 (Windows)', device: null };
    await service().features.sessions.start(account.userId, client, { kind: 'setup' });
    const { page, goto } = await open(account);
    await goto('/settings/sign-in');
    const other = page.getByRole('row', { name: /Firefox on Windows.*192\.0\.2\.7/ });
    await other.getByRole('button').click();
    await expect.poll(() => other.count()).toBe(0);
    await page.getByText('this one').waitFor();
    await page.getByLabel('Current password').fill('not the password');
    await page.getByLabel('New password').fill('a new password');
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByRole('alert').waitFor();
  });

  it('show who changed what, with the values before and after, filtered by the address', async () => {
    const account = await newAccount();
    const { json } = await account.post('/v1/check-groups', { name: 'Shop' });
    await account.patch(`/v1/check-groups/${json.id}`, { name: 'Web shop' });
    const { page, goto, faults } = await open(account);
    await goto('/settings/audit-log?action=update');
    const row = page.locator('tbody tr');
    await row.locator('summary').click();
    const name = row.locator('dl > div').filter({ hasText: /^name/ });
    expect(await name.locator('del').textContent()).toBe('Shop');
    expect(await name.locator('ins').textContent()).toBe('Web shop');
    expect(await row.textContent()).toMatch(/first.*update.*hop/s);
    expect(await page.locator('tbody tr').count()).toBe(1);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('row', { name: /create.*Shop/ }).waitFor();
    expect(new URL(page.url()).search).toBe('');
    expect(faults()).toEqual([]);
  });

  it('change name and time zone of the account, and keep what is typed if somebody was faster', async () => {
    const account = await newAccount();
    const path = `/v1/accounts/${account.accountId}`;
    const { page, goto, faults } = await open(account);
    await goto('/settings');
    const save = page.getByRole('button', { name: 'Save' });
    await page.getByLabel('Time zone', { exact: true }).fill('Mars/Olympus');
    await save.click();
    await page.getByText('is not a time zone of the IANA database').waitFor();
    await expect
      .poll(() =>
        page.getByLabel('Time zone', { exact: true }).evaluate('document.activeElement.id'),
      )
      .toBe(await page.getByLabel('Time zone', { exact: true }).getAttribute('id'));
    await page.getByLabel('Time zone', { exact: true }).fill('Europe/Berlin');
    await page.getByLabel('Name', { exact: true }).fill('Web shop');
    await save.click();
    await page.getByText('The account is saved').waitFor();
    expect((await account.get(path)).json).toMatchObject({
      name: 'Web shop',
      timeZone: 'Europe/Berlin',
    });
    expect(await save.isDisabled()).toBe(true);

    await account.patch(path, { name: 'Shop of others' });
    await page.getByLabel('Name', { exact: true }).fill('My shop');
    await save.click();
    await page.getByText('has changed this account meanwhile').waitFor();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('My shop');
    await page.getByRole('button', { name: 'Drop my changes and load theirs' }).click();
    await expect
      .poll(() => page.getByLabel('Name', { exact: true }).inputValue())
      .toBe('Shop of others');
    expect(faults().filter((fault) => !/40[0-9]|412/.test(fault))).toEqual([]);
  });

  it('show how much of each limit is in use', async () => {
    const account = await newAccount();
    await account.post('/v1/variables', { key: 'A', value: '1' });
    await account.post('/v1/variables', { key: 'B', value: '1' });
    const { page, goto, faults } = await open(account);
    await goto('/settings');
    await page.getByRole('row', { name: /Variables 2 no limit/ }).waitFor();
    expect(faults()).toEqual([]);
  });

  it('change when alerts are sent', async () => {
    const account = await newAccount();
    const channel = await account.post('/v1/alert-channels', {
      type: 'EMAIL',
      config: { address: 'night@example.com' },
    });
    const { page, goto, faults } = await open(account);
    await goto('/settings/alerts');
    const save = page.getByRole('button', { name: 'Save' });
    expect(await save.isDisabled()).toBe(true);
    await page.getByLabel('Alert after').selectOption('TIME_BASED');
    await page.getByLabel('Time', { exact: true }).selectOption('15');
    await page.getByLabel('Reminders').selectOption('100000');
    await page.getByLabel('Send alerts that nobody acknowledges').check();
    const minutes = page.getByLabel('Minutes without acknowledgement');
    expect(await minutes.getAttribute('max')).toBe('1440');
    await minutes.fill('20');
    await page.getByText('Choose at least 1, at most 20.').waitFor();
    await page.getByLabel('Checks in several locations fail only if').check();
    const share = page.getByLabel('Share of the locations, in percent');
    expect(await share.inputValue()).toBe('10');
    expect(await share.getAttribute('min')).toBe('10');
    await share.fill('50');
    await page.getByRole('checkbox', { name: 'night@example.com' }).check();
    await save.click();
    await page.getByText('The alert settings are saved').waitFor();
    const path = `/v1/accounts/${account.accountId}/alert-settings`;
    expect((await account.get(path)).json).toMatchObject({
      escalationType: 'TIME_BASED',
      timeBasedEscalation: { minutesFailingThreshold: 15 },
      reminders: { amount: 100_000 },
      parallelRunFailureThreshold: { enabled: true, percentage: 50 },
      escalationStep: { minutes: 20, alertChannelIds: [channel.json.id] },
    });
    expect(faults()).toEqual([]);
  });

  it('show a user of the role read only what concerns everybody', async () => {
    const { page, goto, faults } = await open(await newAccount('read'));
    await goto('/settings/keys');
    await page.getByText('Only admins of the account see this').waitFor();
    const nav = page.getByRole('navigation', { name: 'Settings' });
    expect(await nav.getByRole('link').allTextContents()).toEqual([
      'Account',
      'Alert settings',
      'Your sign-in',
    ]);
    await nav.getByRole('link', { name: 'Alert settings' }).click();
    await page.getByText('Only admins of the account change them').waitFor();
    expect(await page.getByLabel('Alert after').isDisabled()).toBe(true);
    expect(faults()).toEqual([]);
  });

  it.each([
    { theme: 'light', width: 360 },
    { theme: 'dark', width: 1_440 },
  ] as const)(
    'have no violation of axe and do not scroll sideways ($theme, $width px)',
    async (view) => {
      const account = await newAccount();
      await account.post('/v1/invitations', { email: 'jo@example.com', role: 'write' });
      const { page, goto, axe, faults } = await open(account, view);
      for (const path of ['', '/alerts', '/keys', '/users', '/audit-log', '/sign-in']) {
        await goto(`/settings${path}`);
        await page.locator('main table, main form').first().waitFor();
        expect(await axe(), path).toEqual([]);
        const overflow = await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        );
        expect(overflow, `pixels that ${path} scrolls sideways`).toBe(0);
      }
      expect(faults()).toEqual([]);
    },
  );
});
