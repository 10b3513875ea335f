import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { dashboardPicture, dashboardScreenshots } from './dashboard/screenshots.ts';
import { launchBrowser, openPage, THEMES, WIDTHS } from './support/browser.ts';
import { SAMPLE_ORIGIN, samplePages, serveSamples } from './support/sample-pages.tsx';

/** Git ignores it. */
const DEFAULT_FOLDER = 'screenshots';

/** With `--readme`, only the pictures of README.md are made. */
const README_PICTURE = { file: 'src/web/status/status-page.png', path: '/outage-3', width: 1120 };
const README_SCENES = [
  { scene: 'overview-40', file: 'src/web/dashboard/overview.png', width: 1120, height: 700 },
  { scene: 'check-run-failed', file: 'src/web/dashboard/failed-run.png', width: 1120, height: 900 },
];

const pages = samplePages();

async function screenshots(browser: Browser, folder: string): Promise<void> {
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
  const ofDashboard = await dashboardScreenshots(browser, join(folder, 'dashboard'), null);
  process.stdout.write(
    `${pages.size * THEMES.length * WIDTHS.length + ofDashboard} screenshots are in ${folder}\n`,
  );
}

/** With `FOLDER --dashboard [PART]`: scenes of the dashboard alone, those with the part in their name. */
async function onlyDashboard(browser: Browser, folder: string, part: string | null) {
  const made = await dashboardScreenshots(browser, folder, part);
  process.stdout.write(`${made} screenshots are in ${folder}\n`);
}

async function readmePictures(browser: Browser): Promise<void> {
  const { file, path, width } = README_PICTURE;
  const { page, context } = await openPage(browser, { theme: 'light', width });
  await serveSamples(context, pages);
  await page.goto(`${SAMPLE_ORIGIN}${path}`);
  await page.screenshot({ path: file, fullPage: true });
  await context.close();
  for (const scene of README_SCENES) await dashboardPicture(browser, scene);
  const files = [file, ...README_SCENES.map((scene) => scene.file)];
  process.stdout.write(`the pictures of README.md are in ${files.join(', ')}\n`);
}

const [option = DEFAULT_FOLDER, ...rest] = process.argv.slice(2);
const browser = await launchBrowser();
if (option === '--readme') await readmePictures(browser);
else if (rest[0] === '--dashboard') await onlyDashboard(browser, option, rest[1] ?? null);
else await screenshots(browser, option);
await browser.close();
