import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { TestProject } from 'vitest/node';
import { CHROMIUM, LAUNCH } from './chromium.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the browser of this run; null if Chromium is not installed. */
    browser: string | null;
  }
}

/** Starts one Chromium for all files of a run, and ends it after them. Each test opens windows of its own. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = existsSync(CHROMIUM)
    ? await chromium.launchServer({ ...LAUNCH, host: '127.0.0.1' })
    : null;
  project.provide('browser', server?.wsEndpoint() ?? null);
  return async () => await server?.close();
}
