import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startCli } from '../support/agent/cli.ts';
import { okTarget, upFixture } from '../support/agent/up-fixture.ts';
import { makeTempFolder } from '../support/process/temp-folder.ts';
import { hookServer } from '../support/servers/hook-server.ts';
import { refusingPort } from '../support/servers/tcp-servers.ts';
import { LACKING, type OpenPage, openPage, useBrowser } from './support/browser.ts';
import { headingOf } from './support/dashboard-service.ts';

/** The link that signs in, as `vedette up` prints it. */
const SIGN_IN = / {2}Sign in +(http:\/\/127\.0\.0\.1:\d+\/sign-in\/[\w-]{43}) /;

const field = (page: Page, name: string) => page.getByLabel(name, { exact: true });

/** The lines of the console, and the requests to other hosts. The browser logs refused requests. */
function faultsOf({ problems, requests }: OpenPage, origin: string): readonly string[] {
  const foreign = requests.filter(
    (asked) => !asked.startsWith('data:') && new URL(asked).origin !== origin,
  );
  return [...problems.filter((text) => !/status of 4\d\d/.test(text)), ...foreign];
}

describe.skipIf(LACKING !== null)('a newcomer', () => {
  const browser = useBrowser();

  it('finds what is down and why, makes a check, a channel and a location, and invites a reader', async () => {
    const url = await okTarget();
    const refusing = await refusingPort();
    onTestFinished(() => refusing.close());
    const fixture = upFixture(
      { id: 'site', checkType: 'URL', name: 'Site', request: { url } },
      {
        id: 'orders',
        checkType: 'TCP',
        name: 'Orders',
        retryStrategy: { type: 'NO_RETRIES' },
        request: { hostname: '127.0.0.1', port: refusing.port },
      },
    );
    fixture.makeDatabase();
    const cli = fixture.start();
    const printed = await cli.seen(
      'stdout',
      /FAIL {4}Orders[\s\S]*PASS {4}Site|PASS {4}Site[\s\S]*FAIL {4}Orders/,
    );
    const link = SIGN_IN.exec(printed)?.[1] ?? '';
    const { origin } = new URL(link);
    const opened = await openPage(browser(), { theme: 'light', width: 1_440 });
    onTestFinished(() => opened.context.close());
    const { page } = opened;

    // Sign in by the printed link.
    await page.goto(link);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('link', { name: '1 failing' }).waitFor();

    // See what is down, why, and its trace.
    await page.getByRole('link', { name: 'Orders' }).first().click();
    const why = page.getByRole('region', { name: 'Why, and what to try' });
    await why.getByText('refused the connection').first().waitFor();
    await page.getByRole('link', { name: /Job log, trace and capture/ }).click();
    await page.getByRole('region', { name: 'Hops of the trace' }).waitFor();

    // Mute it.
    await page.goto(`${origin}/checks/orders`);
    await page.getByRole('button', { name: 'Mute' }).click();
    await page.getByText('The check is muted: it sends no alerts.').waitFor();

    // Make a check by form, try it, save it, see it run.
    await page.goto(origin);
    await page.getByRole('link', { name: 'New check' }).click();
    await field(page, 'Name').fill('Shop');
    await field(page, 'URL').fill(url);
    const local = page.getByRole('group', { name: 'Locations' }).getByRole('checkbox').first();
    await local.check();
    const trial = page.getByRole('region', { name: 'Try it' });
    await trial.getByRole('button', { name: 'Try it' }).click();
    await trial.getByText(/^The run at \w+ has ended\.$/).waitFor();
    await trial.getByText('Passed', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Create the check' }).click();
    await page.getByRole('heading', { level: 1, name: 'Shop', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Run now' }).click();
    await page.locator('.page-header').getByText('Passing').waitFor();

    // Make a channel, and receive its test message.
    const hook = await hookServer((_, answer) => answer.writeHead(202).end('queued'));
    await page.goto(`${origin}/channels`);
    await page.getByRole('link', { name: /^Webhook/ }).click();
    await field(page, 'Name').fill('Pager');
    await field(page, 'URL').fill(hook.url);
    await page.getByRole('button', { name: 'Create the channel' }).click();
    await page.getByRole('heading', { level: 1, name: 'Pager' }).waitFor();
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByText('The receiver answered with status 202.').waitFor();
    expect(hook.requests).toHaveLength(1);

    // Make a location, and start an agent by the copied line.
    await page.goto(`${origin}/locations`);
    await page.getByRole('button', { name: 'New location' }).click();
    await field(page, 'Name').fill('Warehouse');
    await page.keyboard.press('Enter');
    await page.getByText('Waiting for an agent…').waitFor();
    await page.getByRole('button', { name: 'Create a key' }).first().click();
    const code = page.getByRole('tabpanel').locator('.block code');
    await page.getByText('it is not shown again').waitFor();
    const lines = (await code.textContent()) ?? '';
    const exported = Object.fromEntries(
      [...lines.matchAll(/^export (\w+)=(.+)$/gm)].map(([, name, value]) => [name, value]),
    );
    const data = makeTempFolder();
    onTestFinished(() => data.remove());
    startCli(['agent'], { ...exported, DATA_DIR: data.path, AGENT_HEALTH_PORT: '0' });
    await page.getByRole('tabpanel').getByRole('status').filter({ hasText: 'Arrived' }).waitFor();
    await page.locator('.page-header').getByText('Online').waitFor();

    // Invite a reader, who sees everything and can change nothing.
    await page.goto(`${origin}/settings/users`);
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByLabel('Email').fill('jo@example.com');
    await page.getByRole('button', { name: 'Create the link' }).click();
    const invitation = page.getByRole('dialog').locator('code');
    await invitation.waitFor();
    const reader = await openPage(browser(), { theme: 'dark', width: 1_440 });
    onTestFinished(() => reader.context.close());
    await reader.page.goto((await invitation.textContent()) ?? '');
    await reader.page.getByLabel('New password').fill('a long password of a reader');
    await reader.page.getByRole('button', { name: 'Join' }).click();
    await headingOf(reader.page).waitFor();
    await reader.page.getByRole('link', { name: 'Orders' }).first().waitFor();
    expect(await reader.page.getByRole('link', { name: 'New check' }).count()).toBe(0);
    await reader.page.getByRole('link', { name: 'Orders' }).first().click();
    await headingOf(reader.page).getByText('Orders').waitFor();
    for (const name of ['Pause', 'Mute', 'Unmute', 'Run now']) {
      expect(await reader.page.getByRole('button', { name, exact: true }).count(), name).toBe(0);
    }
    const refused = await reader.page.evaluate(
      `fetch('/v1/checks/orders', { method: 'DELETE' }).then(({ status }) => status)`,
    );
    expect(refused).toBe(403);

    expect(faultsOf(opened, origin)).toEqual([]);
    expect(faultsOf(reader, origin)).toEqual([]);

    // Its service and its agent write to its folder until they have ended.
    cli.child.kill('SIGTERM');
    await cli.ended;
  });
});
