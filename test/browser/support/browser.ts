import axe from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { lacking } from '../../support/process/system-needs.ts';

/** Of Debian's package chromium. */
const CHROMIUM = '/usr/bin/chromium';

/** What the machine lacks for these tests; null if it has all. */
export const LACKING = lacking({ commands: [], files: [CHROMIUM] });

export const THEMES = ['light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];
/** A small telephone and a usual desktop, in CSS pixels. */
export const WIDTHS = [360, 1_440] as const;

/** @param hosts addresses of names, for example `{ 'status.acme.example': '127.0.0.1:8080' }` */
export function launchBrowser(hosts: Readonly<Record<string, string>> = {}): Promise<Browser> {
  const rules = Object.entries(hosts).map(([name, address]) => `MAP ${name} ${address}`);
  // The tests run as root, for which Chromium has no sandbox. They open only our own pages.
  const args = ['--no-sandbox', ...(rules.length > 0 ? [`--host-resolver-rules=${rules}`] : [])];
  return chromium.launch({ executablePath: CHROMIUM, args });
}

/** For a describe block: one browser. */
export function useBrowser(): () => Browser {
  let browser: Browser | null = null;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
  });
  return () => {
    if (browser === null) throw new Error('the browser is for tests: it starts before the first');
    return browser;
  };
}

export interface OpenPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors and warnings on the console, and errors of scripts. */
  readonly problems: readonly string[];
  /** Addresses of all requests. */
  readonly requests: readonly string[];
}

/** Opens a window; the caller closes its context. */
export async function openPage(
  browser: Browser,
  {
    theme,
    width,
    runsScripts = true,
  }: { readonly theme: Theme; readonly width: number; readonly runsScripts?: boolean },
): Promise<OpenPage> {
  const context = await browser.newContext({
    colorScheme: theme,
    javaScriptEnabled: runsScripts,
    viewport: { width, height: 900 },
    locale: 'en-GB',
    // For axe, which is no part of the page.
    bypassCSP: false,
  });
  const page = await context.newPage();
  const problems: string[] = [];
  const requests: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('request', (request) => requests.push(request.url()));
  return { page, context, problems, requests };
}

/** What axe finds wrong, as `rule: element`. Its script runs in the page by the debugger, beside the CSP. */
export async function axeViolations(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const found = await page.evaluate(`axe.run(document, { resultTypes: ['violations'] })`);
  const { violations } = found as {
    readonly violations: readonly {
      readonly id: string;
      readonly help: string;
      readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
    }[];
  };
  return violations.flatMap(({ id, nodes }) =>
    nodes.slice(0, 3).map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}
