import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { LACKING } from '../support/browser.ts';
import { useDashboard } from '../support/dashboard.ts';
import { addFailingCheck } from './check/check-samples.ts';
import { addManyChecks } from './overview/overview-samples.ts';

const MAX_CLICKS = 2;
/** The requests of the first screen: the user, counts, silent locations and the first rows. */
const MAX_REQUESTS = 8;
/** The bytes of the answers to them, compressed. */
const MAX_ANSWER_BYTES = 100_000;
const MAX_NODES = 3_000;
const MAX_MEMORY_BYTES = 100_000_000;

/** The requests to the API that have ended, with the sizes of their bodies as they were sent. */
function answersOf(page: Page): () => Promise<{ readonly count: number; readonly bytes: number }> {
  const sizes: Promise<number>[] = [];
  page.on('requestfinished', (request) => {
    if (!/\/v1\/(?!events\b)/.test(request.url())) return;
    sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
  });
  return async () => {
    const bytes = await Promise.all(sizes);
    return { count: bytes.length, bytes: bytes.reduce((sum, each) => sum + each, 0) };
  };
}

describe.skipIf(LACKING !== null)('the budgets of the dashboard', () => {
  const { service, newAccount, open } = useDashboard();
  let shared: ReturnType<typeof newAccount> | null = null;
  /** 10,000 checks, of which nothing changes. */
  const manyChecks = () => {
    shared ??= newAccount().then(async (account) => {
      await addManyChecks(account, service(), 10_000);
      return account;
    });
    return shared;
  };
  const nodesOf = (page: Page) => page.evaluate('document.querySelectorAll("*").length');
  const memoryOf = (page: Page) => page.evaluate('performance.memory.usedJSHeapSize');

  it('lead from a red check to its job log, trace and capture by two clicks', async () => {
    const account = await newAccount();
    await addFailingCheck(account, service());
    const { page, goto } = await open(account);
    let clicks = 0;
    const click = async (what: Locator): Promise<void> => {
      clicks += 1;
      await what.click();
    };
    await goto('/');
    await click(page.getByRole('link', { name: 'Orders API' }).first());
    await click(page.getByRole('link', { name: /Job log, trace and capture/ }));
    await page.getByRole('region', { name: 'Job log' }).waitFor();
    await page.getByRole('region', { name: 'Hops of the trace' }).waitFor();
    await page.getByRole('link', { name: 'Packet capture' }).waitFor();
    expect(clicks).toBeLessThanOrEqual(MAX_CLICKS);
  });

  it('show the first screen of 10,000 checks by few requests and bytes, without inline scripts', async () => {
    const { page, goto, faults } = await open(await manyChecks());
    const answers = answersOf(page);
    await goto('/');
    await page.getByRole('link', { name: '20 failing' }).waitFor();
    await page.locator('.overview-name a').first().waitFor();
    const { count, bytes } = await answers();
    expect(count).toBeGreaterThan(2);
    expect(count).toBeLessThanOrEqual(MAX_REQUESTS);
    expect(bytes).toBeGreaterThan(1_000);
    expect(bytes).toBeLessThanOrEqual(MAX_ANSWER_BYTES);
    expect(await page.locator('script:not([src])').count()).toBe(0);
    expect(faults()).toEqual([]);
  });

  it('show the reports of 2,000 of 10,000 checks by a request for each hundred, with few nodes', async () => {
    const { page, goto, requests, faults } = await open(await manyChecks());
    await goto('/reports');
    await page.getByText('2,000 of 10,000 checks, the first by name: use a filter').waitFor();
    expect(requests.filter((url) => url.includes('/v1/analytics/'))).toHaveLength(20);
    expect(await page.locator('tbody tr').count()).toBe(100);
    expect(await nodesOf(page)).toBeLessThan(MAX_NODES);
    expect(await memoryOf(page)).toBeLessThan(MAX_MEMORY_BYTES);
    expect(faults()).toEqual([]);
  });
});
