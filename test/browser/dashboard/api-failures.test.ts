import type { Locator, Page, Route } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { DASHBOARD_PATHS, type DashboardPageName } from '../../../src/web/dashboard-paths.ts';
import { LACKING } from '../support/browser.ts';
import { useDashboard } from '../support/dashboard.ts';

/** The answers of the API, and the texts of the pages. */
interface Failure {
  readonly name: string;
  /** null: nothing. */
  readonly status: number | null;
  readonly error: string;
  readonly message: string;
  readonly attributes?: Readonly<Record<string, unknown>>;
  /** A part of the advice. */
  readonly advice: string;
}

const FAILURES: readonly Failure[] = [
  {
    name: 'a fault',
    status: 500,
    error: 'Internal Server Error',
    message: 'Something went wrong',
    advice: 'the log of the service says why',
  },
  {
    name: 'an ended session',
    status: 401,
    error: 'Unauthorized',
    message: 'Your session has ended',
    advice: 'what you typed is kept',
  },
  {
    name: 'a missing role',
    status: 403,
    error: 'Forbidden',
    message: 'This needs the role admin; yours is read',
    attributes: { role: 'read', needed: 'admin' },
    advice: 'Ask an admin of the account',
  },
  {
    name: 'a missing resource',
    status: 404,
    error: 'Not Found',
    message: 'There is no such thing',
    advice: 'It may have been deleted',
  },
  {
    name: 'no response',
    status: null,
    error: 'OFFLINE',
    message: 'The service cannot be reached',
    advice: 'Check the connection, then try again',
  },
];

/** All that pages read and write. They are shown only to whoever is signed in: the session goes on. */
const API = /\/v1\/(?!events\b|session\b)/;
const REQUEST_ID = 'request-7';

async function fail(route: Route, { status, error, message, attributes }: Failure): Promise<void> {
  if (status === null) await route.abort();
  else
    await route.fulfill({
      status,
      headers: { 'x-request-id': REQUEST_ID },
      json: { statusCode: status, error, message, attributes },
    });
}

/**
 * The views that the page wants to return to after signing in again. It stays where it is: its way to the
 * sign-in ends before any request, since Playwright waits for ever where a request has no page as response.
 */
async function signInsOf(page: Page): Promise<ReadonlySet<string>> {
  const views = new Set<string>();
  await page.exposeFunction('noteSignIn', (next: string) => views.add(next));
  await page.addInitScript(`
    navigation.addEventListener('navigate', (event) => {
      const { pathname, searchParams } = new URL(event.destination.url);
      if (pathname !== '/sign-in') return;
      event.preventDefault();
      noteSignIn(searchParams.get('next') ?? '');
    });`);
  return views;
}

/** The page for the kinds of channels reads nothing. */
const READS_NOTHING: readonly DashboardPageName[] = ['newChannel'];
const VIEWS = (Object.entries(DASHBOARD_PATHS) as [DashboardPageName, string][])
  .filter(([name]) => !READS_NOTHING.includes(name))
  .map(([, path]) => path.replaceAll(/:\w+/g, '1'));

/** As a link does it, without loading the dashboard anew for each of 160 views. */
async function show(page: Page, path: string): Promise<void> {
  await page.evaluate(
    `document.querySelector('main h1')?.setAttribute('data-left', '');
     history.pushState(null, '', ${JSON.stringify(path)});
     dispatchEvent(new PopStateEvent('popstate'));`,
  );
  await page.locator('main h1:not([data-left])').first().waitFor();
}

const PRESS_TRY_AGAIN = `[...document.querySelectorAll('main button')]
  .find((button) => button.textContent === 'Try again')?.click();`;

/** A form, and how to fill it in so that the browser sends it. */
interface FilledForm {
  readonly path: string;
  /** The button that opens the dialog with the form. Left out: the page has the form. */
  readonly opens?: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly submit: string;
}

const FORMS: readonly FilledForm[] = [
  {
    path: '/?group-by=group',
    opens: 'Edit group Shop',
    fields: { Name: 'Web shop' },
    submit: 'Save',
  },
  {
    path: '/?group-by=group',
    opens: 'New group',
    fields: { Name: 'Web shop' },
    submit: 'Create the group',
  },
  {
    path: '/checks/new',
    fields: { Name: 'Orders', URL: 'https://orders.example.com/' },
    submit: 'Create the check',
  },
  {
    path: '/channels/new?type=EMAIL',
    fields: { Address: 'ops@example.com' },
    submit: 'Create the channel',
  },
  {
    path: '/heartbeats',
    opens: 'New heartbeat',
    fields: { Name: 'Backup' },
    submit: 'Create the heartbeat',
  },
  {
    path: '/maintenance',
    opens: 'New window',
    fields: { Name: 'Update' },
    submit: 'Create the window',
  },
  {
    path: '/status-pages',
    opens: 'New page',
    fields: { Name: 'Shop' },
    submit: 'Create the page',
  },
  {
    path: '/incidents',
    opens: 'New incident',
    fields: { Name: 'Slow', 'What readers should know': 'We look into it.' },
    submit: 'Publish',
  },
  {
    path: '/variables',
    opens: 'New variable',
    fields: { Name: 'HOST', Value: 'shop.example.com' },
    submit: 'Create the variable',
  },
  {
    path: '/snippets',
    opens: 'New snippet',
    fields: { Name: 'Sign in', Script: 'log()' },
    submit: 'Create the snippet',
  },
  {
    path: '/certificates?view=client',
    opens: 'Add a certificate',
    fields: { Host: 'api.example.com', Certificate: 'cert', 'Private key': 'key' },
    submit: 'Add the certificate',
  },
  {
    path: '/locations',
    opens: 'New location',
    fields: { Name: 'Office' },
    submit: 'Create the location',
  },
  {
    path: '/settings',
    fields: { Name: 'Acme Shop' },
    submit: 'Save',
  },
  {
    path: '/settings/users',
    opens: 'Invite',
    fields: { Email: 'ana@example.com' },
    submit: 'Create the link',
  },
  {
    path: '/settings/keys',
    opens: 'New key',
    fields: { Name: 'Deployment' },
    submit: 'Create the key',
  },
  {
    path: '/settings/sign-in',
    fields: { 'Current password': 'one password', 'New password': 'another password' },
    submit: 'Change the password',
  },
];

describe.skipIf(LACKING !== null)('the dashboard, if the API fails', () => {
  const { newAccount, open } = useDashboard();

  it.each(FAILURES)(
    'says on each page what is wrong and what to do, and tries again on request: $name',
    async (failure) => {
      const { page, goto } = await open(await newAccount());
      const signIns = await signInsOf(page);
      await goto('/channels/new');
      await page.route(API, (route) => fail(route, failure));
      const main = page.locator('main');
      for (const path of VIEWS) {
        await show(page, path);
        // Resources that do not exist have a text of their own, with a link to what does.
        const said = main.getByRole('alert').or(main.locator('.empty'));
        const first = said.filter({ visible: true }).first();
        await first.waitFor();
        const text = await first.textContent();
        if (failure.status === 404) {
          expect(text, path).toMatch(/There is no such .*(?:It may have been|retention)/s);
          if ((await first.getByRole('button', { name: 'Try again' }).count()) === 0) {
            expect(await first.getByRole('link').count(), path).toBe(1);
            continue;
          }
        } else {
          expect(text, path).toContain(failure.message);
          expect(text, path).toContain(failure.advice);
        }
        if (failure.status !== null) expect(text, path).toContain(REQUEST_ID);
        if (failure.status === 401) await expect.poll(() => [...signIns]).toContain(path);
        const asked = page.waitForRequest(API);
        await first.getByRole('button', { name: 'Try again' }).click();
        await asked;
      }
      await show(page, '/snippets');
      await page.unroute(API);
      // The page reads again by itself too: then there is no button to press.
      await page.evaluate(PRESS_TRY_AGAIN);
      await page.getByText('There is no snippet yet').waitFor();
      expect(await main.getByRole('alert').count()).toBe(0);
    },
  );

  it('keeps in each form what is typed, says what to do, and sends it again on request', async () => {
    const account = await newAccount();
    const { json: group } = await account.post('/v1/check-groups', { name: 'Shop' });
    const request = { url: 'https://shop.example.com/' };
    const check = { checkType: 'URL', locations: ['eu-west-1'], groupId: group.id, request };
    expect((await account.put('/v1/checks/cart', check)).status).toBe(200);
    const { page, goto } = await open(account);
    const signIns = await signInsOf(page);
    // Forms ask before they are left.
    page.on('dialog', (dialog) => dialog.accept());
    let failure: Failure | undefined;
    await page.route(API, async (route) => {
      if (failure === undefined || route.request().method() === 'GET') await route.continue();
      else await fail(route, failure);
    });
    for (const { path, opens, fields, submit } of FORMS) {
      await goto(path);
      const form: Locator = page.locator(opens === undefined ? 'main' : 'dialog.dialog');
      if (opens !== undefined) {
        await page.getByRole('button', { name: opens, exact: true }).first().click();
      }
      for (const [label, value] of Object.entries(fields)) {
        await form.getByLabel(label, { exact: true }).fill(value);
      }
      for (failure of FAILURES) {
        await form.getByRole('button', { name: submit, exact: true }).click();
        const alert = form.getByRole('alert').filter({ hasText: failure.message });
        await alert.filter({ hasText: failure.advice }).waitFor();
        if (failure.status === 401) {
          const link = alert.getByRole('link', { name: 'Sign in' });
          expect(await link.getAttribute('target'), path).toBe('_blank');
        }
        for (const [label, value] of Object.entries(fields)) {
          const field = form.getByLabel(label, { exact: true });
          expect(await field.inputValue(), `${path}: ${label}`).toBe(value);
        }
      }
      failure = undefined;
    }
    expect([...signIns]).toEqual([]);
  });

  it('does not leave a form that is not saved when the session has ended', async () => {
    const account = await newAccount();
    const { page, goto } = await open(account);
    const signIns = await signInsOf(page);
    await goto('/checks/new');
    await page.getByLabel('Name', { exact: true }).fill('Orders');
    await page.getByRole('status').filter({ hasText: 'Live' }).filter({ visible: true }).waitFor();
    const ended = FAILURES.find(({ status }) => status === 401) as Failure;
    await page.route(API, (route) => fail(route, ended));
    // The form reads the groups again.
    await account.post('/v1/check-groups', { name: 'Shop' });
    const alert = page.getByRole('alert').filter({ hasText: 'The groups could not be read' });
    await alert.waitFor();
    expect([...signIns]).toEqual([]);
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Orders');
    await page.unroute(API);
    await alert.getByRole('button', { name: 'Try again' }).click();
    const group = page.getByLabel('Group', { exact: true });
    await group.locator('option', { hasText: 'Shop' }).waitFor({ state: 'attached' });
  });

  it('does not leave a key that is shown once when the session has ended', async () => {
    const { page, goto } = await open(await newAccount());
    const signIns = await signInsOf(page);
    await goto('/settings/keys');
    await page.getByRole('button', { name: 'New key', exact: true }).first().click();
    const form = page.locator('dialog.dialog');
    await form.getByLabel('Name', { exact: true }).fill('Deployment');
    const ended = FAILURES.find(({ status }) => status === 401) as Failure;
    await page.route(API, async (route) => {
      if (route.request().method() === 'GET') await fail(route, ended);
      else await route.continue();
    });
    await form.getByRole('button', { name: 'Create the key', exact: true }).click();
    // The list of keys is read again.
    await page.locator('main [role=alert]', { hasText: ended.message }).waitFor();
    await form.getByText('Keep it now: it is not shown again.').waitFor();
    expect([...signIns]).toEqual([]);
  });
});
