import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { systemClock } from '../../../src/runtime/clock.ts';
import { migrate } from '../../../src/service/database/migrate.ts';
import { openStore } from '../../../src/service/database/open-store.ts';
import { silentLog, storeConfig } from '../../support/database/silent-store.ts';
import { THEMES, WIDTHS } from '../support/browser.ts';
import {
  newDashboardAccount,
  openDashboardPage,
  startDashboardService,
} from '../support/dashboard-service.ts';
import { SCENES } from './scenes.ts';

const MAX_PICTURE_PIXELS = 8_000;

/**
 * Writes a picture of each scene, in both themes and widths.
 *
 * @param only a part of the names of the scenes; null for all
 * @returns how many
 */
export async function dashboardScreenshots(
  browser: Browser,
  folder: string,
  only: string | null,
): Promise<number> {
  mkdirSync(folder, { recursive: true });
  const scenes = SCENES.filter(({ name }) => only === null || name.includes(only));
  if (scenes.length === 0) return 0;
  const log = silentLog();
  const store = await openStore(storeConfig(), { clock: systemClock, log });
  await migrate(store, log);
  const service = await startDashboardService(store);
  try {
    for (const { name, path, prepare, act } of scenes) {
      const account = await newDashboardAccount(service);
      await prepare?.(account, service);
      for (const theme of THEMES) {
        for (const width of WIDTHS) {
          const opened = await openDashboardPage(browser, service, account, { theme, width });
          await opened.goto(typeof path === 'string' ? path : path(account));
          await act?.(opened, account);
          // Not until the network is idle: the stream of events never ends.
          await waitUntilLoaded(opened.page);
          await opened.page.screenshot({
            path: join(folder, `${name}-${theme}-${width}.png`),
            fullPage: await isWithinAPicture(opened.page),
          });
          await opened.context.close();
        }
      }
    }
  } finally {
    await service.close();
  }
  return scenes.length * THEMES.length * WIDTHS.length;
}

async function waitUntilLoaded(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor();
  // Not by waitForFunction: it evaluates text in the page, which its policy forbids.
  const skeletons = page.locator('.skeleton');
  while ((await skeletons.count()) > 0) {
    await skeletons
      .first()
      .waitFor({ state: 'detached' })
      .catch(() => {});
  }
}

/** Chromium takes no picture of ten thousand rows. */
async function isWithinAPicture(page: Page): Promise<boolean> {
  const box = await page.locator('html').boundingBox();
  return box !== null && box.height <= MAX_PICTURE_PIXELS;
}
