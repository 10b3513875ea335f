import type { BrowserContext } from 'playwright-core';
import { policyOf } from '../../../src/service/status-pages/site/send.ts';
import { StatusPageView } from '../../../src/service/status-pages/site/view/status-page.tsx';
import { renderHtml } from '../../../src/web/status/layout.tsx';
import { NotFound } from '../../../src/web/status/not-found.tsx';
import { samplePage, sampleStates } from '../../support/status-pages/sample-states.ts';

export const SAMPLE_ORIGIN = 'http://samples.test';

interface SamplePage {
  readonly html: string;
  readonly policy: string;
}

/** Pages by their path. */
export function samplePages(): ReadonlyMap<string, SamplePage> {
  const requested = samplePage();
  const { fields } = requested.page;
  const policy = policyOf(fields);
  const pages = new Map<string, SamplePage>();
  for (const [name, state] of Object.entries(sampleStates())) {
    const view = <StatusPageView requested={requested} state={state} isStale={false} />;
    pages.set(`/${name}`, { html: renderHtml(view), policy });
  }
  const [state] = Object.values(sampleStates());
  if (state !== undefined) {
    const view = <StatusPageView requested={requested} state={state} isStale={true} />;
    pages.set('/database-away', { html: renderHtml(view), policy });
  }
  pages.set('/not-found', { html: renderHtml(<NotFound colors={fields} />), policy });
  return pages;
}

/** Answers requests for the pages; those for anything else fail. */
export async function serveSamples(
  context: BrowserContext,
  pages: ReadonlyMap<string, SamplePage>,
): Promise<void> {
  await context.route('**/*', async (route) => {
    const url = new URL(route.request().url());
    const page = url.origin === SAMPLE_ORIGIN ? pages.get(url.pathname) : undefined;
    if (page === undefined) {
      await (url.pathname === '/favicon.ico' ? route.fulfill({ status: 204 }) : route.abort());
      return;
    }
    await route.fulfill({
      body: page.html,
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': page.policy,
      },
    });
  });
}
