import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { RUNNABLE_CHECK_TYPES } from '../../../../src/model/enums.ts';
import { fieldsOf } from '../../../../src/web/dashboard/pages/editing/facts.ts';
import { LABELS } from '../../../../src/web/dashboard/pages/editing/form-fields.ts';
import { TrialAgent, trialResult } from '../../../support/check-trials/trials-fixture.ts';
import { LACKING, THEMES } from '../../support/browser.ts';
import { useDashboard } from '../../support/dashboard.ts';
import { addCheck, addLocations, ORDERS } from '../check/check-samples.ts';
import { addRich } from './editing-scenes.ts';

const field = (page: Page, name: string) => page.getByLabel(name, { exact: true });
/** The browser itself logs refused requests. */
const isOwnFault = (fault: string): boolean => !/status of 4(?:00|12)/.test(fault);

describe.skipIf(LACKING !== null)('the form of a check', () => {
  const { service, newAccount, open } = useDashboard();

  it('makes a check, and says at each field what the API refuses', async () => {
    const account = await newAccount();
    await addLocations(account, service(), ['office']);
    const { page, goto, faults } = await open(account);
    await goto('/');
    await page.getByRole('link', { name: 'New check' }).click();
    await page.getByRole('radio', { name: /^API/ }).check();
    await page.getByRole('button', { name: 'Create the check' }).click();
    await page.getByText(/^must be at least 1 character/).waitFor();
    const focused = page.locator('input:focus');
    expect(await focused.getAttribute('id')).toBe(await field(page, 'Name').getAttribute('id'));
    expect(await field(page, 'URL').getAttribute('aria-invalid')).toBe('true');
    await field(page, 'Name').fill('Orders');
    await field(page, 'URL').fill('https://orders.example.com/');
    await field(page, 'Every').selectOption('10 s');
    await field(page, 'Degraded above').fill('250.5');
    await field(page, 'Tags').fill('shop, production,');
    await page.getByRole('button', { name: 'Add an assertion' }).click();
    await field(page, 'Source 1').selectOption('JSON body');
    await field(page, 'Property 1').fill('state');
    await field(page, 'Target 1').fill('up');
    await page.getByRole('button', { name: 'Create the check' }).click();
    await page.getByText(/^must be a JSONPath that starts with/).waitFor();
    expect(await field(page, 'Property 1').getAttribute('aria-invalid')).toBe('true');
    expect(await field(page, 'Tags').inputValue()).toBe('shop, production,');
    await field(page, 'Property 1').fill('$.state');
    await page.getByRole('button', { name: 'Create the check' }).click();
    const locations = page.getByRole('group', { name: 'Locations' });
    await locations.getByRole('alert').waitFor();
    await locations.getByRole('checkbox', { name: 'office' }).check();
    await page.getByRole('button', { name: 'Create the check' }).click();
    await page.getByRole('heading', { level: 1, name: 'Orders', exact: true }).waitFor();
    const [made] = (await account.get('/v1/checks')).json;
    expect(made).toMatchObject({
      checkType: 'API',
      frequency: 0,
      frequencyOffset: 10,
      degradedResponseTime: 250.5,
      maxResponseTime: 20_000,
      tags: ['shop', 'production'],
      privateLocations: ['office'],
      request: {
        assertions: [
          { source: 'JSON_BODY', property: '$.state', comparison: 'EQUALS', target: 'up' },
        ],
      },
    });
    expect(faults().filter(isOwnFault)).toEqual([]);
  });

  it('takes the id that the user chooses, and overwrites no check that has it', async () => {
    const account = await newAccount();
    await addLocations(account, service(), ['office']);
    await addCheck(account, service(), 'orders', { ...ORDERS, privateLocations: ['office'] });
    const { page, goto } = await open(account);
    await goto('/checks/new?type=TCP');
    await field(page, 'Id').fill('orders');
    await field(page, 'Name').fill('Database');
    await field(page, 'Host').fill('db.internal');
    await field(page, 'Port').fill('5432');
    await page.getByRole('checkbox', { name: 'office' }).check();
    await page.getByRole('button', { name: 'Create the check' }).click();
    await page.getByText('is the id of another check').waitFor();
    expect((await account.get('/v1/checks/orders')).json.name).toBe(ORDERS.name);
    await field(page, 'Id').fill('database');
    await page.getByRole('button', { name: 'Create the check' }).click();
    await page.waitForURL('**/checks/database');
    expect((await account.get('/v1/checks/database')).json.request).toMatchObject({
      hostname: 'db.internal',
      port: 5_432,
    });
  });

  it('compares the SOA serials of the name servers that are entered', async () => {
    const account = await newAccount();
    await addLocations(account, service(), ['office']);
    const { page, goto } = await open(account);
    await goto('/checks/new?type=DNS');
    await field(page, 'Name').fill('Zone');
    await field(page, 'Name to look up').fill('example.com');
    await field(page, 'Record type').selectOption('SOA');
    await page.getByRole('checkbox', { name: 'office' }).check();
    await page.getByRole('checkbox', { name: 'Compare the serials' }).check();
    for (const [index, server] of ['ns1.example.com', 'https://ns2.example.com/'].entries()) {
      await page.getByRole('button', { name: 'Add a name server' }).click();
      await field(page, `Name servers to compare ${index + 1}`).fill(server);
    }
    await page.getByRole('button', { name: 'Create the check' }).click();
    const second = field(page, 'Name servers to compare 2');
    await expect.poll(() => second.getAttribute('aria-invalid')).toBe('true');
    await second.fill('10.0.0.53');
    await page.getByRole('button', { name: 'Create the check' }).click();
    await page.getByRole('heading', { level: 1, name: 'Zone', exact: true }).waitFor();
    const [made] = (await account.get('/v1/checks')).json;
    expect(made.request).toMatchObject({
      compareSerials: true,
      compareServers: ['ns1.example.com', '10.0.0.53'],
    });
  });

  it('changes a check, keeps what the API hides, and shows the warnings of the answer', async () => {
    const account = await newAccount();
    await addRich(account, service());
    const before = (await account.get('/v1/checks/orders')).json;
    const { page, goto, faults } = await open(account);
    await goto('/checks/orders');
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByRole('heading', { level: 1, name: 'Edit Orders API' }).waitFor();
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await field(page, 'Failed above').fill('');
    await field(page, 'Base of the delay').fill('5');
    await page.getByRole('button', { name: 'Remove assertion 2' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/^The check is saved, with \d warnings?\.$/).waitFor();
    await page.locator('.check-warning').first().waitFor();
    const { updated_at: _, ...after } = (await account.get('/v1/checks/orders')).json;
    const { updated_at: __, ...unchanged } = before;
    expect(after).toEqual({
      ...unchanged,
      maxResponseTime: null,
      retryStrategy: { ...before.retryStrategy, baseBackoffSeconds: 5 },
      request: { ...before.request, assertions: before.request.assertions.toSpliced(1, 1) },
    });
    expect(faults()).toEqual([]);
  });

  it('keeps what is typed when somebody else saves, says who, and loads theirs on request', async () => {
    const account = await newAccount();
    await addLocations(account, service(), ['office']);
    await addCheck(account, service(), 'orders', { ...ORDERS, privateLocations: ['office'] });
    const { page, goto, faults } = await open(account);
    await goto('/checks/orders/edit');
    await field(page, 'Name').fill('Mine');
    await account.patch('/v1/checks/orders', { name: 'Theirs' });
    await page.getByRole('alert').getByText('has changed this check meanwhile').waitFor();
    await page.getByRole('alert').getByText('first').waitFor();
    expect(await field(page, 'Name').inputValue()).toBe('Mine');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Save', disabled: false }).waitFor();
    expect((await account.get('/v1/checks/orders')).json.name).toBe('Theirs');
    await page.getByRole('button', { name: 'Drop my changes and load theirs' }).click();
    await expect.poll(() => field(page, 'Name').inputValue()).toBe('Theirs');
    await field(page, 'Name').fill('Both');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { level: 1, name: 'Both' }).waitFor();
    expect(faults().filter(isOwnFault)).toEqual([]);
  });

  it('shows the YAML beside the form, and each of them follows the other', async () => {
    const account = await newAccount();
    await addRich(account, service());
    const { page, goto, faults } = await open(account);
    await goto('/checks/orders/edit');
    const yaml = page.getByRole('textbox', { name: 'YAML' });
    await yaml.waitFor();
    const text = await yaml.inputValue();
    expect(text).toMatch(/^checks:\n {2}- id: orders\n {4}checkType: API\n {4}name: Orders API\n/);
    expect(text).toContain('value: "********" # hidden');
    await yaml.fill(text.replace('name: Orders API', 'name: Orders # of the shop'));
    expect(await field(page, 'Name').inputValue()).toBe('Orders');
    await field(page, 'Name').fill('All orders');
    await page.getByText('its comments were removed').waitFor();
    expect(await yaml.inputValue()).toContain('name: All orders\n');
    await page.getByRole('button', { name: 'Restore my text' }).click();
    expect(await field(page, 'Name').inputValue()).toBe('Orders');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { level: 1, name: 'Orders', exact: true }).waitFor();
    const { updated_at: _, ...after } = (await account.get('/v1/checks/orders')).json;
    expect(after).toMatchObject({ name: 'Orders', retryStrategy: { type: 'EXPONENTIAL' } });
    expect(after.request.headers[1]).toMatchObject({ key: 'authorization', value: '********' });
    expect(faults()).toEqual([]);
  });

  it('says in which line of the YAML something is wrong, and keeps what was typed', async () => {
    const account = await newAccount();
    await addLocations(account, service(), ['office']);
    const { page, goto, faults } = await open(account);
    await goto('/checks/new');
    const yaml = page.getByRole('textbox', { name: 'YAML' });
    const broken = 'checks:\n  - checkType: URL\n    name: [Shop\n';
    await yaml.fill(broken);
    await page.getByText('The form waits until the text is valid again.').waitFor();
    expect(await field(page, 'Name').isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Create the check' }).isDisabled()).toBe(true);
    expect(await yaml.inputValue()).toBe(broken);
    const check =
      'checks:\n  - id: shop\n    checkType: TCP\n    name: Shop\n    request:\n      port: 0\n';
    await yaml.fill(check);
    expect(await field(page, 'Id').inputValue()).toBe('shop');
    expect(await page.getByRole('radio', { name: /^TCP/ }).isChecked()).toBe(true);
    await page.getByRole('button', { name: 'Create the check' }).click();
    await page.getByRole('button', { name: 'Line 6' }).first().click();
    const panel = page.getByRole('region', { name: 'YAML' });
    await panel.getByText(/^request.port must be/).waitFor();
    expect(await field(page, 'Port').getAttribute('aria-invalid')).toBe('true');
    expect(await yaml.inputValue()).toBe(check);
    await yaml.fill(
      `${check.replace('port: 0', 'port: 443')}      hostname: shop.internal\n    privateLocations: [office]\n`,
    );
    await page.getByRole('button', { name: 'Create the check' }).click();
    await page.waitForURL('**/checks/shop');
    expect((await account.get('/v1/checks/shop')).json).toMatchObject({
      checkType: 'TCP',
      privateLocations: ['office'],
      request: { hostname: 'shop.internal', port: 443 },
    });
    expect(faults().filter(isOwnFault)).toEqual([]);
  });

  it('tries a check that is not saved, follows the run, and shows its result', async () => {
    const account = await newAccount();
    const keys = await addLocations(account, service(), ['office']);
    const [{ id }] = (await account.get('/v1/private-locations')).json;
    const { page, goto, faults } = await open(account);
    await goto('/checks/new?type=API');
    const panel = page.getByRole('region', { name: 'Try it' });
    const start = panel.getByRole('button', { name: 'Try it' });
    await field(page, 'Name').fill('Shop');
    await field(page, 'URL').fill('shop.test');
    await start.click();
    await panel.getByText('Some fields are not valid').waitFor();
    expect(await field(page, 'URL').getAttribute('aria-invalid')).toBe('true');
    await field(page, 'URL').fill('http://shop.test/health');
    await start.click();
    await panel.getByText(/No agent of/).waitFor();
    expect(await field(page, 'URL').getAttribute('aria-invalid')).toBeNull();
    const location = { id, key: keys.office ?? '' };
    const agent = new TrialAgent(service(), account.accountId, location, 'agent-1');
    await agent.poll();
    await start.click();
    await panel.getByText('Waiting for an agent at office').waitFor();
    const [trial] = await agent.poll();
    if (trial === undefined) throw new Error('the agent did not get the trial');
    expect(trial.check).toMatchObject({
      name: 'Shop',
      request: { url: 'http://shop.test/health' },
    });
    await panel.getByText('An agent at office makes the run').waitFor();
    const result = trialResult(trial, { runLocation: 'office' });
    expect((await agent.report(trial.trialId, { result })).json).toEqual({ accepted: true });
    await panel.getByText('The run at office has ended.').waitFor();
    await panel.getByText('Failed', { exact: true }).waitFor();
    await panel.getByRole('region', { name: 'Job log' }).waitFor();
    expect((await account.get('/v1/checks')).json).toEqual([]);
    expect(await field(page, 'Name').inputValue()).toBe('Shop');
    expect(faults().filter((fault) => !/status of 4(?:00|09)/.test(fault))).toEqual([]);
  });

  it('tries a change of a check with the values that the API hides', async () => {
    const account = await newAccount();
    await addRich(account, service());
    const locations = (await account.get('/v1/private-locations')).json;
    const { id } = locations.find(({ slug }: { slug: string }) => slug === 'office');
    const { key } = await service().features.locationKeys.create(account.accountId, id);
    const agent = new TrialAgent(service(), account.accountId, { id, key }, 'agent-1');
    await agent.poll();
    const { page, goto, axe, faults } = await open(account);
    await goto('/checks/orders/edit');
    const panel = page.getByRole('region', { name: 'Try it' });
    await field(page, 'Name').fill('Changed');
    await panel.getByLabel('At the location').selectOption('office');
    await panel.getByRole('button', { name: 'Try it' }).click();
    await panel.getByText('Waiting for an agent at office').waitFor();
    const [trial] = await agent.poll();
    expect(trial?.check).toMatchObject({
      name: 'Changed',
      request: { headers: [{}, { key: 'authorization', value: 'Bearer 8c1f' }] },
    });
    const answer = await agent.report(trial?.trialId ?? '', { missed: 'agent_busy' });
    expect(answer.json).toEqual({ accepted: true });
    await panel
      .getByRole('status')
      .getByText(/ Try again\.$/)
      .waitFor();
    expect(await axe()).toEqual([]);
    expect((await account.get('/v1/checks/orders')).json.name).toBe(ORDERS.name);
    expect(faults()).toEqual([]);
  });

  it('begins with a copy where a check is duplicated', async () => {
    const account = await newAccount();
    await addRich(account, service());
    const { page, goto, faults } = await open(account);
    await goto('/checks/orders');
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Duplicate…' }).click();
    await page.getByText('Hidden values are not copied: enter them again.').waitFor();
    expect(await field(page, 'Name').inputValue()).toBe('Copy of Orders API');
    expect(await field(page, 'Value of the header 2').inputValue()).toBe('');
    await field(page, 'Value of the header 2').fill('Bearer 9');
    await field(page, 'Password').fill('another');
    await field(page, 'Value of the variable 2').fill('another');
    await page.getByRole('button', { name: 'Create the check' }).click();
    await page.getByRole('heading', { level: 1, name: 'Copy of Orders API' }).waitFor();
    await page.locator('.page-header').getByText('Paused').waitFor();
    expect(faults()).toEqual([]);
  });

  it('asks before what is not saved is lost', async () => {
    const account = await newAccount();
    const { page, goto } = await open(account);
    await goto('/checks/new');
    await field(page, 'Name').fill('Orders');
    const asked: string[] = [];
    page.on('dialog', (dialog) => {
      asked.push(dialog.message());
      void (asked.length === 1 ? dialog.dismiss() : dialog.accept());
    });
    await page.getByRole('link', { name: 'Cancel' }).click();
    expect(await field(page, 'Name').inputValue()).toBe('Orders');
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.getByText('There are no checks yet').waitFor();
    expect(asked).toEqual(Array(2).fill(expect.stringContaining('are not saved')));
  });

  it('asks before Back loses what is not saved, and not afterwards', async () => {
    const account = await newAccount();
    const { page, goto } = await open(account);
    await goto('/');
    await page.getByRole('link', { name: 'New check' }).click();
    await field(page, 'Name').fill('Orders');
    const asked: string[] = [];
    page.on('dialog', (dialog) => {
      asked.push(dialog.message());
      void (asked.length === 1 ? dialog.dismiss() : dialog.accept());
    });
    await page.goBack();
    await expect.poll(() => asked.length).toBe(1);
    await page.waitForURL('**/checks/new');
    expect(await field(page, 'Name').inputValue()).toBe('Orders');
    await page.goBack();
    await page.getByText('There are no checks yet').waitFor();
    await page.goForward();
    await page.getByRole('heading', { level: 1, name: 'New check' }).waitFor();
    expect(asked).toHaveLength(2);
  });

  it.each(RUNNABLE_CHECK_TYPES)('shows every field of a check of the type %s', async (type) => {
    const account = await newAccount();
    await addRich(account, service());
    await account.post('/v1/status-pages/services', { name: 'Shop' });
    const { page, goto, faults } = await open(account);
    await goto(`/checks/new?type=${type}`);
    const shown = new Set<string>();
    const look = async (): Promise<void> => {
      for (const element of await page.locator('[data-field]').all()) {
        shown.add((await element.getAttribute('data-field')) ?? '');
      }
    };
    if (type === 'TCP') await field(page, 'TLS').selectOption('STARTTLS');
    for (const name of ['assertion', 'header', 'parameter', 'variable', 'step', 'protocol']) {
      const add = page.getByRole('button', { name: new RegExp(`^Add an? ${name}$`) });
      if ((await add.count()) > 0) await add.click();
    }
    if (type === 'API') {
      await field(page, 'Source 1').selectOption('headers');
      await field(page, 'Body').selectOption('JSON');
      await page.getByRole('checkbox', { name: 'Basic authentication' }).check();
      await page.getByRole('checkbox', { name: 'Digest, AWS signature' }).check();
      for (const kind of ['DIGEST', 'AWS_SIGV4', 'OAUTH2_CLIENT_CREDENTIALS']) {
        await field(page, 'Kind of authentication').selectOption(kind);
        await look();
      }
    }
    if (type === 'DNS') {
      await field(page, 'Record type').selectOption('SOA');
      await page.getByRole('checkbox', { name: 'Compare the serials' }).check();
      await page.getByRole('button', { name: 'Add a name server' }).click();
      await field(page, 'Protocol').selectOption('DOH');
    }
    await field(page, 'Retry a failed run').selectOption('FIXED');
    await page.getByRole('checkbox', { name: 'Notify all existing channels' }).uncheck();
    await page.getByRole('checkbox', { name: 'on-call@example.com' }).waitFor();
    await page.getByRole('checkbox', { name: 'Use the alert settings' }).uncheck();
    await page.getByRole('checkbox', { name: 'Fail only if a share' }).check();
    await page.getByRole('checkbox', { name: 'Open an incident' }).check();
    await field(page, 'Group').selectOption('Shop');
    await look();
    await field(page, 'Alert after').selectOption('TIME_BASED');
    await look();
    const wanted = Object.keys(fieldsOf(type)).filter((path) => LABELS[path] !== undefined);
    // Other sources have these, only responses over HTTP a status, and the method of URL checks is always GET.
    const without = {
      URL: ['request.method', 'request.assertions[].property', 'request.assertions[].regex'],
      API: [],
      TCP: ['request.assertions[].regex', 'retryStrategy.onlyOn'],
      DNS: ['request.assertions[].property', 'request.assertions[].regex', 'retryStrategy.onlyOn'],
      ICMP: ['request.assertions[].regex', 'retryStrategy.onlyOn'],
    }[type] as readonly string[];
    expect(wanted.filter((path) => !shown.has(path) && !without.includes(path))).toEqual([]);
    expect(faults()).toEqual([]);
  });

  it('is not for the role read', async () => {
    const account = await newAccount('read');
    await addLocations(account, service(), ['office']);
    await addCheck(account, service(), 'orders', { ...ORDERS, privateLocations: ['office'] });
    const { page, goto } = await open(account);
    for (const path of ['/', '/checks/orders']) {
      await goto(path);
      await page.getByText('Orders API').first().waitFor();
      expect(await page.getByRole('link', { name: /^(New check|Edit)$/ }).count(), path).toBe(0);
    }
    for (const path of ['/checks/new', '/checks/orders/edit']) {
      await goto(path);
      await page.getByText('Your role in this account may not change checks.').waitFor();
    }
  });

  it.each(THEMES)('has no violation of axe and does not scroll sideways (%s)', async (theme) => {
    const account = await newAccount();
    await addRich(account, service());
    for (const width of [360, 1_440]) {
      const { page, goto, axe, faults } = await open(account, { theme, width });
      for (const path of ['/checks/new?type=DNS', '/checks/orders/edit']) {
        await goto(path);
        await expect.poll(() => page.locator('.skeleton').count()).toBe(0);
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
