import { describe, expect, it } from 'vitest';
import { axeViolations, LACKING, openPage, useBrowser } from './support/browser.ts';
import { useServiceProcess } from './support/shared-service.ts';

/** The long pages take axe some seconds, so that each theme is seen at one width. */
const VIEWS = [
  { theme: 'light', width: 360 },
  { theme: 'dark', width: 1_440 },
] as const;
const PAGES = ['/docs', '/docs/api', '/docs/api-guide', '/docs/search?q=webhook'];

describe.skipIf(LACKING !== null)('the documents of a real service', () => {
  const browser = useBrowser();
  const running = useServiceProcess();

  it.each(VIEWS)(
    'have no violation of axe, and ask nobody else ($theme, $width px)',
    async (view) => {
      const service = running();
      const { page, context, problems, requests } = await openPage(browser(), view);
      try {
        for (const path of PAGES) {
          await page.goto(`${service.url}${path}`);
          expect(await axeViolations(page), path).toEqual([]);
        }
        expect(problems).toEqual([]);
        const asked = requests.map((url) => new URL(url).origin);
        expect(new Set(asked)).toEqual(new Set([service.url]));
      } finally {
        await context.close();
      }
    },
  );

  it('find an operation, and send it with a key that is kept nowhere', async () => {
    const service = running();
    const { page, context, problems } = await openPage(browser(), { theme: 'light', width: 1_440 });
    try {
      await page.goto(`${service.url}/docs/api`);
      await page.getByLabel('Find an operation').fill('create location');
      const found = page.locator('details.operation[data-path="/v1/private-locations"]:visible');
      await expect.poll(() => found.count()).toBe(1);
      await found.locator('> summary').focus();
      await page.keyboard.press('Enter');
      await found.getByRole('button', { name: 'Send POST' }).click();
      expect(await found.getByRole('status').last().textContent()).toContain('Enter an API key');
      await page.getByLabel('API key').fill(service.apiKey);
      await found.getByLabel('Body').fill('{"name": "Office", "slug": "office"}');
      await found.getByRole('button', { name: 'Send POST' }).click();
      await expect
        .poll(() => found.getByRole('status').last().textContent(), { timeout: 20_000 })
        .toBe('201 Created');
      expect(await found.locator('form pre').textContent()).toContain('"slug": "office"');
      const example = found.locator('details', { hasText: '"name": "Office"' }).first();
      await example.locator('summary').click();
      await example.locator('pre').waitFor();
      expect(await axeViolations(page)).toEqual([]);
      expect(page.url()).not.toContain(service.apiKey);
      const stored =
        'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])';
      expect(await page.evaluate(stored)).toBe('[{},{},""]');
      const { json } = await service.ask('/v1/private-locations');
      expect(json).toMatchObject([{ slug: 'office' }]);
      expect(problems).toEqual([]);
    } finally {
      await context.close();
    }
  });

  it('open the operation that a link names', async () => {
    const service = running();
    const { page, context } = await openPage(browser(), { theme: 'light', width: 360 });
    try {
      await page.goto(`${service.url}/docs/api`);
      const anchor = await page
        .locator('details.operation[data-path="/v1/check-statuses"][data-method="get"] > div')
        .getAttribute('id');
      await page.goto(`${service.url}/docs/api#${anchor}`);
      await page.locator(`#${anchor}`).getByRole('heading', { name: 'Command' }).waitFor();
    } finally {
      await context.close();
    }
  });
});
