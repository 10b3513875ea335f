import axe from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { beforeAll, inject } from 'vitest';
import { lacking } from '../../support/process/system-needs.ts';
import { CHROMIUM, LAUNCH } from './chromium.ts';

/** The missing requirements of these tests; null if the machine has all. */
export const LACKING = lacking({ commands: [], files: [CHROMIUM] });

export const THEMES = ['light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];
/** A small telephone and a usual desktop, in CSS pixels. */
export const WIDTHS = [360, 1_440] as const;

/**
 * Starts a browser; the caller closes it.
 *
 * @param hosts addresses of names, for example `{ 'status.acme.example': '127.0.0.1:8080' }`
 */
export function launchBrowser(hosts: Readonly<Record<string, string>> = {}): Promise<Browser> {
  const rules = Object.entries(hosts).map(([name, address]) => `MAP ${name} ${address}`);
  const args = [...LAUNCH.args, ...(rules.length > 0 ? [`--host-resolver-rules=${rules}`] : [])];
  return chromium.launch({ ...LAUNCH, args });
}

/** The files of a worker share its connection, which ends with the worker and closes all its windows. */
let connected: Promise<Browser> | null = null;

/** For a describe block: the browser of this run. */
export function useBrowser(): () => Browser {
  let browser: Browser | null = null;
  beforeAll(async () => {
    const address = inject('browser');
    if (address === null) throw new Error(`there is no ${CHROMIUM}`);
    connected ??= chromium.connect(address);
    browser = await connected;
  });
  return () => {
    if (browser === null) throw new Error('the browser is for tests: it starts before the first');
    return browser;
  };
}

/** Against a page that never shows it: on a busy machine a page takes seconds. */
const MAX_WAIT_MS = 60_000;

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
  context.setDefaultTimeout(MAX_WAIT_MS);
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

/** The violations that axe finds, as `rule: element`. Its script runs by the debugger. */
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
