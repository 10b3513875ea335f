import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { launchBrowser, openPage, THEMES, WIDTHS } from './support/browser.ts';
import { SAMPLE_ORIGIN, samplePages, serveSamples } from './support/sample-pages.tsx';

/** Git ignores it. */
const DEFAULT_FOLDER = 'screenshots';

const [folder = DEFAULT_FOLDER] = process.argv.slice(2);
const pages = samplePages();
const browser = await launchBrowser();
mkdirSync(folder, { recursive: true });
for (const theme of THEMES) {
  for (const width of WIDTHS) {
    const { page, context } = await openPage(browser, { theme, width });
    await serveSamples(context, pages);
    for (const path of pages.keys()) {
      await page.goto(`${SAMPLE_ORIGIN}${path}`);
      const name = `${path.slice(1)}-${theme}-${width}.png`;
      await page.screenshot({ path: join(folder, name), fullPage: true });
    }
    await context.close();
  }
}
await browser.close();
process.stdout.write(
  `${pages.size * THEMES.length * WIDTHS.length} screenshots are in ${folder}\n`,
);
