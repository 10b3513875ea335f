import { describe, expect, it } from 'vitest';
import type { StatusPage } from '../../src/model/status-page/status-page.ts';
import { IS_NIGHTLY } from '../support/nightly.ts';
import { startService } from '../support/service/deployment.ts';
import {
  axeViolations,
  LACKING,
  openPage,
  THEMES,
  type Theme,
  useBrowser,
  WIDTHS,
} from './support/browser.ts';
import { incidentPage, SAMPLE_ORIGIN, samplePages, serveSamples } from './support/sample-pages.tsx';

const pages = samplePages();
/** By day each theme at one width, with every second page: the other theme has the others. */
const WIDTHS_OF: Readonly<Record<Theme, readonly number[]>> = IS_NIGHTLY
  ? { light: WIDTHS, dark: WIDTHS }
  : { light: [360], dark: [1_440] };
function pathsIn(theme: Theme): readonly string[] {
  const paths = [...pages.keys()];
  return IS_NIGHTLY ? paths : paths.filter((_, index) => index % 2 === THEMES.indexOf(theme));
}

/** The size of a page with everything that it loads, as sent. */
const MAX_BYTES = 50_000;

type ColorField = keyof StatusPage['themeColors']['light'];

/** As browsers write a colour of six hex digits. */
function rgbText(hex: string): string {
  const at = (start: number) => Number.parseInt(hex.slice(start, start + 2), 16);
  return `rgb(${at(1)}, ${at(3)}, ${at(5)})`;
}

/** The hosts that a page asked, without the data that it contains. */
function originsOf(requests: readonly string[]): readonly string[] {
  const asked = requests.filter((url) => !url.startsWith('data:'));
  return [...new Set(asked.map((url) => new URL(url).origin))];
}

describe.skipIf(LACKING !== null).each(THEMES)('in the %s theme', (theme) => {
  const browser = useBrowser();

  describe.each(WIDTHS_OF[theme])('%d pixels wide', (width) => {
    it.each(pathsIn(theme))('%s has no violation of axe, and asks nobody else', async (path) => {
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

describe.skipIf(LACKING !== null)('a page with several problems', () => {
  const browser = useBrowser();

  it('names what has a problem at the top, the worst first, with links that lead to it', async () => {
    const { page, context } = await openPage(browser(), { theme: 'light', width: 360 });
    try {
      await serveSamples(context, pages);
      await page.goto(`${SAMPLE_ORIGIN}/outage-120`);
      const links = page.locator('.now').getByRole('link');
      expect(await links.allTextContents()).toEqual([
        'Mail delivery',
        'Search 5',
        'Customer portal 8',
      ]);
      await links.nth(1).click();
      const target = page.locator(':target');
      expect(await target.locator('h3').textContent()).toBe('Search 5');
      const isInView = '({ top, bottom }) => top >= 0 && bottom <= innerHeight';
      expect(
        await page.evaluate(
          `(${isInView})(document.querySelector(':target').getBoundingClientRect())`,
        ),
      ).toBe(true);
      await page.goto(`${SAMPLE_ORIGIN}/degraded-30`);
      // The sentence names the only service.
      expect(await page.locator('.troubled').count()).toBe(0);
    } finally {
      await context.close();
    }
  });

  it.each([360, 1_440])(
    'lines up the conditions of broken services at %d pixels',
    async (width) => {
      const { page, context } = await openPage(browser(), { theme: 'light', width });
      try {
        await serveSamples(context, pages);
        await page.goto(`${SAMPLE_ORIGIN}/outage-120`);
        const lefts = await page.evaluate(
          "[...document.querySelectorAll('.troubled .state')].map((each) => each.getBoundingClientRect().left)",
        );
        const [left] = lefts as readonly number[];
        expect(lefts).toEqual([left, left, left]);
      } finally {
        await context.close();
      }
    },
  );

  it('says that nothing is known where no service is shown', async () => {
    const { page, context } = await openPage(browser(), { theme: 'light', width: 360 });
    try {
      await serveSamples(context, pages);
      await page.goto(`${SAMPLE_ORIGIN}/empty`);
      expect(await page.locator('.now').getAttribute('class')).toBe('now UNKNOWN');
    } finally {
      await context.close();
    }
  });
});

describe.skipIf(LACKING !== null)('a page with pictures of its own', () => {
  const browser = useBrowser();

  it('shows its logo no higher than its header allows, and its icon in the tab', async () => {
    const { page, context, requests } = await openPage(browser(), { theme: 'dark', width: 360 });
    try {
      await serveSamples(context, pages);
      await page.goto(`${SAMPLE_ORIGIN}/with-logo`);
      const logo = page.getByRole('img', { name: 'Acme', exact: true });
      expect(await logo.isVisible()).toBe(true);
      const shown = await page.evaluate(
        "(({ complete, naturalWidth, height }) => [complete, naturalWidth, height])(document.querySelector('.brand img'))",
      );
      expect(shown).toEqual([true, 320, 40]);
      expect(requests).toContain(`${SAMPLE_ORIGIN}/status/acme/logo?v=logo-hash`);
      const icon = await page.locator('link[rel=icon]').getAttribute('href');
      expect(icon).toBe('/status/acme/favicon?v=icon-hash');
    } finally {
      await context.close();
    }
  });
});

describe.skipIf(LACKING !== null).each(THEMES)('themeColors of the %s theme', (theme) => {
  const browser = useBrowser();

  /** The element and the property that show each colour. */
  const SEEN_AT: Readonly<Record<ColorField, readonly [selector: string, property: string]>> = {
    bodyBackgroundColor: ['body', 'background-color'],
    headerBackgroundColor: ['header', 'background-color'],
    headerFontColor: ['.brand', 'color'],
    titleFontColor: ['h1', 'color'],
    bodyFontColor: ['body', 'color'],
    bodyFontColorMuted: ['.lead', 'color'],
    navigationFontColor: ['header nav a', 'color'],
    linkFontColor: ['article h3 a', 'color'],
    cardBackgroundColor: ['article.card', 'background-color'],
    borderColor: ['article.card', 'border-top-color'],
    primaryButtonBackgroundColor: ['header .button', 'background-color'],
    primaryButtonFontColor: ['header .button', 'color'],
  };
  const fields = Object.keys(SEEN_AT) as readonly ColorField[];
  /** Distinct, and none of them a default of either theme. */
  const given = new Map(
    fields.map((field, index) => [
      field,
      `#${theme === 'light' ? 'a' : 'b'}${index.toString(16)}0102`,
    ]),
  );

  it.each(fields)('%s is the colour of what its name says', async (field) => {
    const { page, context } = await openPage(browser(), { theme, width: 1_440 });
    try {
      const own = { themeColors: { [theme]: Object.fromEntries(given) } };
      await serveSamples(context, new Map([['/colored', incidentPage(own)]]));
      await page.goto(`${SAMPLE_ORIGIN}/colored`);
      const [selector, property] = SEEN_AT[field];
      const seen = await page
        .locator(selector)
        .first()
        .evaluate((element, name) => getComputedStyle(element).getPropertyValue(name), property);
      expect(seen).toBe(rgbText(given.get(field) ?? ''));
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
    const sizes: Promise<number>[] = [];
    page.on('requestfinished', (request) => {
      if (request.url().startsWith('data:')) return;
      sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
    });
    try {
      const url = `${service.url}/status/acme`;
      await page.goto(url);
      expect(await page.locator('h1').textContent()).toBe('Shop has a major outage');
      const bytes = (await Promise.all(sizes)).reduce((sum, each) => sum + each, 0);
      expect(bytes).toBeGreaterThan(1_000);
      expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
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
