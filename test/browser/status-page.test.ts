import { describe, expect, it } from 'vitest';
import { startService } from '../support/service/deployment.ts';
import { axeViolations, LACKING, openPage, THEMES, useBrowser, WIDTHS } from './support/browser.ts';
import { SAMPLE_ORIGIN, samplePages, serveSamples } from './support/sample-pages.tsx';

const pages = samplePages();

/** Of the hosts that a page asked, without the data that it contains. */
function originsOf(requests: readonly string[]): readonly string[] {
  const asked = requests.filter((url) => !url.startsWith('data:'));
  return [...new Set(asked.map((url) => new URL(url).origin))];
}

describe.skipIf(LACKING !== null).each(THEMES)('in the %s theme', (theme) => {
  const browser = useBrowser();

  describe.each(WIDTHS)('%d pixels wide', (width) => {
    it.each([...pages.keys()])('%s has no violation of axe, and asks nobody else', async (path) => {
      const { page, context, problems, requests } = await openPage(browser(), { theme, width });
      try {
        await serveSamples(context, pages);
        await page.goto(`${SAMPLE_ORIGIN}${path}`);
        expect(await page.locator('script').count()).toBe(0);
        expect(problems).toEqual([]);
        expect(originsOf(requests)).toEqual([SAMPLE_ORIGIN]);
        const overflow = await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        );
        expect(overflow, 'pixels that scroll sideways').toBe(0);
        expect(await axeViolations(page)).toEqual([]);
      } finally {
        await context.close();
      }
    });
  });

  it('opens the list of days by keyboard', async () => {
    const { page, context } = await openPage(browser(), { theme, width: 360 });
    try {
      await serveSamples(context, pages);
      await page.goto(`${SAMPLE_ORIGIN}/all-well-3`);
      const list = page.locator('details').first();
      expect(await list.getAttribute('open')).toBeNull();
      await list.locator('summary').focus();
      await page.keyboard.press('Enter');
      expect(await list.getAttribute('open')).toBe('');
      expect(await list.locator('li').first().isVisible()).toBe(true);
    } finally {
      await context.close();
    }
  });
});

describe.skipIf(LACKING !== null)('on tablets', () => {
  const browser = useBrowser();

  it.each([561, 700, 761, 800, 900, 1_000])(
    'names of services have room at %d pixels',
    async (width) => {
      const { page, context } = await openPage(browser(), { theme: 'light', width });
      try {
        await serveSamples(context, pages);
        await page.goto(`${SAMPLE_ORIGIN}/outage-3`);
        const narrowest = await page.evaluate(
          "Math.min(...[...document.querySelectorAll('.service > :first-child')].map((name) => name.offsetWidth))",
        );
        expect(narrowest).toBeGreaterThan(150);
      } finally {
        await context.close();
      }
    },
  );
});

describe.skipIf(LACKING !== null)('on paper', () => {
  const browser = useBrowser();

  it('says in words what happened on each day, without a click', async () => {
    const { page, context } = await openPage(browser(), { theme: 'light', width: 717 });
    try {
      await serveSamples(context, pages);
      await page.goto(`${SAMPLE_ORIGIN}/outage-3`);
      const isVisible =
        "document.querySelector('details li').checkVisibility({ contentVisibilityAuto: true })";
      expect(await page.evaluate(isVisible)).toBe(false);
      await page.emulateMedia({ media: 'print' });
      // Contents of details become visible with the next frame.
      await page.waitForFunction(isVisible);
    } finally {
      await context.close();
    }
  });

  it('a page needs no more sheets than its content', async () => {
    const { page, context } = await openPage(browser(), { theme: 'light', width: 794 });
    try {
      await serveSamples(context, pages);
      await page.goto(`${SAMPLE_ORIGIN}/long-and-right-to-left-names`);
      const pdf = await page.pdf({ format: 'A4' });
      expect(pdf.toString('latin1').match(/\/Type \/Page\b/g)).toHaveLength(2);
    } finally {
      await context.close();
    }
  });

  it('a page has light colours, whatever the theme, and nothing to click', async () => {
    const { page, context } = await openPage(browser(), { theme: 'dark', width: 1_440 });
    try {
      await serveSamples(context, pages);
      await page.goto(`${SAMPLE_ORIGIN}/outage-3`);
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      const ink = await page.evaluate('getComputedStyle(document.body).color');
      expect(ink).toBe('rgb(0, 0, 0)');
      const card = await page.evaluate(
        "getComputedStyle(document.querySelector('.card')).backgroundColor",
      );
      expect(card).toBe('rgb(255, 255, 255)');
    } finally {
      await context.close();
    }
  });
});

describe.skipIf(LACKING !== null)('a page of a real service', () => {
  const browser = useBrowser();

  it('shows an incident, sets no cookie, and loads nothing else', async () => {
    const service = await startService();
    const post = async (path: string, body: object): Promise<string> =>
      (await service.ask(path, { method: 'POST', body })).json.id;
    const shop = await post('/v1/status-pages/services', { name: 'Shop' });
    const cards = [{ name: 'Websites', services: [shop] }];
    await post('/v1/status-pages', { name: 'Acme', url: 'acme', cards });
    await post('/v1/status-pages/incidents', {
      name: 'Orders fail',
      severity: 'CRITICAL',
      services: [shop],
      incidentUpdates: [{ status: 'INVESTIGATING', description: 'We look into it.' }],
    });
    const { page, context, problems, requests } = await openPage(browser(), {
      theme: 'light',
      width: 360,
    });
    try {
      const url = `${service.url}/status/acme`;
      await page.goto(url);
      expect(await page.locator('h1').textContent()).toBe('Shop has a major outage');
      expect(await page.locator('article').textContent()).toContain('We look into it.');
      expect(await context.cookies()).toEqual([]);
      expect(problems).toEqual([]);
      expect(originsOf(requests)).toEqual([service.url]);
      const icon = await page.locator('link[rel=icon]').getAttribute('href');
      expect(icon).toMatch(/^data:image\/svg\+xml,/);
      expect(await axeViolations(page)).toEqual([]);
      const missing = await page.goto(`${url}/nothing`);
      expect(missing?.status()).toBe(404);
      expect(await axeViolations(page)).toEqual([]);
    } finally {
      await context.close();
    }
  });
});
