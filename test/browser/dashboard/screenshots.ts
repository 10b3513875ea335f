import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { systemClock } from '../../../src/runtime/clock.ts';
import { migrate } from '../../../src/service/database/migrate.ts';
import { openStore } from '../../../src/service/database/open-store.ts';
import { silentLog, storeConfig } from '../../support/database/silent-store.ts';
import { THEMES, WIDTHS } from '../support/browser.ts';
import {
  type DashboardService,
  newDashboardAccount,
  openDashboardPage,
  startDashboardService,
} from '../support/dashboard-service.ts';
import { SCENES, type Scene } from './scenes.ts';

const MIN_HEIGHT = 900;
/** Chromium takes no picture of ten thousand rows. */
const MAX_HEIGHT = 4_000;
/** A list that is laid out anew may be higher than before. */
const MAX_FITS = 4;

/**
 * Writes a picture of each scene, in both themes and widths.
 *
 * @param only parts of the names of the scenes, with commas in between; null for all
 * @returns how many
 * @throws Error with the scenes that could not be shown, after the others
 */
export async function dashboardScreenshots(
  browser: Browser,
  folder: string,
  only: string | null,
): Promise<number> {
  mkdirSync(folder, { recursive: true });
  const scenes = SCENES.filter(
    ({ name }) => only === null || only.split(',').some((part) => name.includes(part)),
  );
  if (scenes.length === 0) return 0;
  const failed: string[] = [];
  await withService(async (service) => {
    for (const scene of scenes) {
      try {
        await picturesOf(browser, service, scene, folder);
      } catch (error) {
        failed.push(`${scene.name}: ${String(error)}`);
      }
    }
  });
  if (failed.length > 0) throw new Error(`no pictures of\n${failed.join('\n')}`);
  return scenes.length * THEMES.length * WIDTHS.length;
}

async function picturesOf(
  browser: Browser,
  service: DashboardService,
  scene: Scene,
  folder: string,
): Promise<void> {
  await withScene({ browser, service, scene }, async (page) => {
    for (const width of WIDTHS) {
      for (const theme of THEMES) {
        await page.emulateMedia({ colorScheme: theme });
        await fitWindow(page, width);
        await page.screenshot({ path: join(folder, `${scene.name}-${theme}-${width}.png`) });
      }
    }
  });
}

/**
 * Writes a picture of a scene in light colours.
 *
 * @param height of the picture, in pixels; null for all of the page
 */
export async function dashboardPicture(
  browser: Browser,
  {
    scene: wanted,
    file,
    width,
    height,
  }: {
    readonly scene: string;
    readonly file: string;
    readonly width: number;
    readonly height: number | null;
  },
): Promise<void> {
  const scene = SCENES.find(({ name }) => name === wanted);
  if (scene === undefined) throw new Error(`there is no scene ${wanted}`);
  await withService((service) =>
    withScene({ browser, service, scene }, async (page) => {
      await fitWindow(page, width);
      if (height !== null) await page.setViewportSize({ width, height });
      await page.screenshot({ path: file });
    }),
  );
}

async function withService(act: (service: DashboardService) => Promise<void>): Promise<void> {
  const log = silentLog();
  const store = await openStore(storeConfig(), { clock: systemClock, log });
  await migrate(store, log);
  const service = await startDashboardService(store);
  try {
    await act(service);
  } finally {
    await service.close();
  }
}

/** Shows a scene with an account of its own to `use`, and closes it, also after an error: its events would go on. */
async function withScene(
  {
    browser,
    service,
    scene: { path, prepare, act, isGuest = false },
  }: {
    readonly browser: Browser;
    readonly service: DashboardService;
    readonly scene: Scene;
  },
  use: (page: Page) => Promise<void>,
): Promise<void> {
  const account = await newDashboardAccount(service);
  await prepare?.(account, service);
  const opened = await openDashboardPage(browser, service, account);
  try {
    if (isGuest) await opened.context.clearCookies();
    await opened.goto(typeof path === 'string' ? path : path(account));
    await act?.(opened, account);
    await use(opened.page);
  } finally {
    await opened.context.close();
  }
}

/**
 * Makes the window as high as what it shows. A picture of a page that is higher than the window would lack the rows
 * of lists that show only what is within the window.
 */
async function fitWindow(page: Page, width: number): Promise<void> {
  await page.setViewportSize({ width, height: MIN_HEIGHT });
  await waitUntilLoaded(page);
  for (let tries = 0; tries < MAX_FITS; tries += 1) {
    const box = await page.locator('html').boundingBox();
    const height = Math.min(MAX_HEIGHT, Math.max(MIN_HEIGHT, Math.ceil(box?.height ?? 0)));
    if (page.viewportSize()?.height === height) return;
    await page.setViewportSize({ width, height });
    await waitUntilLoaded(page);
  }
}

/** Not until the network is idle: the stream of events never ends. */
async function waitUntilLoaded(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor();
  // Not by waitForFunction: it evaluates text in the page, which its policy forbids.
  const loading = page.locator('.skeleton, .overview-placeholder');
  while ((await loading.count()) > 0) {
    await loading
      .first()
      .waitFor({ state: 'detached' })
      .catch(() => {});
  }
}
