import type { BrowserContext } from 'playwright-core';
import type { VNode } from 'preact';
import { monthAt, monthBefore } from '../../../src/service/status-pages/history/months.ts';
import type { MonthOfHistory } from '../../../src/service/status-pages/history/page-history.ts';
import { HistoryView } from '../../../src/service/status-pages/history/view/history.tsx';
import { IncidentView } from '../../../src/service/status-pages/history/view/incident.tsx';
import { policyOf } from '../../../src/service/status-pages/site/send-document.ts';
import { StatusPageView } from '../../../src/service/status-pages/site/view/status-page.tsx';
import {
  CheckMailView,
  SubscribeView,
  SubscriptionView,
  UnsubscribedView,
  UnsubscribeView,
  WebhookView,
} from '../../../src/service/status-pages/subscriptions/view.tsx';
import { renderHtml } from '../../../src/web/status/layout.tsx';
import { NotFound } from '../../../src/web/status/not-found.tsx';
import { SAMPLE_PICTURES, samplePictureFiles } from '../../support/status-pages/sample-pictures.ts';
import {
  calmState,
  SAMPLE_NOW_MS,
  sampleIncident,
  samplePage,
  sampleStates,
} from '../../support/status-pages/sample-states.ts';

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
  const [branded] = Object.values(sampleStates());
  if (branded !== undefined) {
    const own = samplePage(
      { logo: 'https://acme.example/logo.png', favicon: 'https://acme.example/icon.png' },
      SAMPLE_PICTURES,
    );
    const view = <StatusPageView requested={own} state={branded} isStale={false} />;
    pages.set('/with-logo', { html: renderHtml(view), policy: policyOf(own.page.fields) });
  }
  pages.set('/not-found', {
    html: renderHtml(<NotFound colors={fields} access={ACCESS} />),
    policy,
  });
  for (const [name, postMortem] of Object.entries(POST_MORTEMS)) {
    const incident = { ...INCIDENT, postMortem };
    const view = <IncidentView requested={requested} incident={incident} names={NAMES} />;
    pages.set(`/${name}`, { html: renderHtml(view), policy });
  }
  const history = (
    <HistoryView
      requested={requested}
      months={sampleMonths()}
      later={null}
      earlier={monthBefore(monthAt(SAMPLE_NOW_MS), 3)}
      names={NAMES}
    />
  );
  pages.set('/history', { html: renderHtml(history), policy });
  for (const [name, view] of Object.entries(subscriptionViews())) {
    pages.set(`/${name}`, { html: renderHtml(view), policy });
  }
  return pages;
}

/** A page with an open incident, and with these fields. */
export function incidentPage(fields: object): SamplePage {
  const requested = samplePage(fields);
  const state = { ...calmState(3), incidents: [sampleIncident()] };
  const view = <StatusPageView requested={requested} state={state} isStale={false} />;
  return { html: renderHtml(view), policy: policyOf(requested.page.fields) };
}

/** The pages on which people subscribe, change their subscription and leave. */
function subscriptionViews(): Readonly<Record<string, VNode>> {
  const requested = samplePage();
  const services = [...NAMES, ['long', 'averylongword'.repeat(12)] as const].map(([id, name]) => ({
    id,
    name,
  }));
  const url = '/status/acme/subscriptions/token';
  const subscription = { kind: 'email', address: 'ann@example.com', serviceIds: null } as const;
  const given = { requested, services, url };
  const open = { takesEmails: true, takesWebhooks: true } as const;
  return {
    subscribe: <SubscribeView requested={requested} services={services} {...open} />,
    'subscribe-refused': (
      <SubscribeView
        requested={requested}
        services={services}
        {...open}
        email="ann"
        note={{
          isError: true,
          text: 'The email address must be an address such as ann@example.com',
        }}
      />
    ),
    'subscribe-not-configured': (
      <SubscribeView
        requested={requested}
        services={services}
        takesEmails={false}
        takesWebhooks={false}
      />
    ),
    'subscribe-check-inbox': <CheckMailView requested={requested} />,
    'subscribe-webhook': (
      <WebhookView requested={requested} secret={'0f'.repeat(32)} manageUrl={url} />
    ),
    'subscription-unconfirmed': (
      <SubscriptionView {...given} subscription={{ ...subscription, isConfirmed: false }} />
    ),
    subscription: (
      <SubscriptionView
        {...given}
        subscription={{ ...subscription, isConfirmed: true, serviceIds: ['shop'] }}
        note={{ isError: false, text: 'Saved.' }}
      />
    ),
    unsubscribe: <UnsubscribeView requested={requested} url={url} />,
    unsubscribed: <UnsubscribedView requested={requested} />,
  };
}

const HOUR_MS = 3_600_000;
const STARTED_MS = SAMPLE_NOW_MS - 50 * HOUR_MS;
const NAMES = new Map([
  ['shop', 'Shop'],
  ['search', 'חיפוש'],
]);
const INCIDENT = {
  id: '5f0c8a8e-0000-4000-8000-000000000001',
  name: 'Orders fail in the shop',
  severity: 'MAJOR',
  serviceIds: ['shop', 'search'],
  startedAtMs: STARTED_MS,
  resolvedAtMs: STARTED_MS + 2 * HOUR_MS,
  updates: [
    {
      id: 'b',
      status: 'RESOLVED',
      description: 'All is well again.',
      atMs: STARTED_MS + 2 * HOUR_MS,
    },
    { id: 'a', status: 'INVESTIGATING', description: 'We look into it.', atMs: STARTED_MS },
  ],
} as const;
const POST_MORTEMS = {
  incident: `# What happened

The disk of the **database** was full, see [the plan](https://example.com/plan).

> Nobody noticed.

1. One thing
   - and another

| Time | What |
|---|---|
| 09:12 | ${'averylongword'.repeat(12)} |

\`\`\`sh
df -h ${'/a/long/path'.repeat(20)}
\`\`\`

## What we change

- [x] An alert
- [ ] A larger disk`,
  'incident-without-words': null,
};

function sampleMonths(): readonly MonthOfHistory[] {
  const current = monthAt(SAMPLE_NOW_MS);
  const { id, name, severity, serviceIds } = INCIDENT;
  const event = { id, serviceIds, startMs: STARTED_MS, endMs: STARTED_MS + HOUR_MS };
  return [
    {
      month: current,
      events: [
        { ...event, kind: 'incident', name: 'Search is slow', severity: 'MINOR', endMs: null },
        { ...event, kind: 'incident', name, severity },
        { ...event, kind: 'maintenance', name: 'Move of the warehouse interface' },
      ],
      notShown: 3,
    },
    { month: monthBefore(current), events: [], notShown: 0 },
  ];
}

const ACCESS = {
  action: '/status/acme/access',
  next: '',
  signInHref: '/sign-in?next=%2Fstatus%2Facme',
  note: 'No page at this address opens with this password.',
} as const;

/** Answers requests for the pages; those for anything else fail. */
export async function serveSamples(
  context: BrowserContext,
  pages: ReadonlyMap<string, SamplePage>,
): Promise<void> {
  const pictures = await samplePictureFiles();
  await context.route('**/*', async (route) => {
    const url = new URL(route.request().url());
    const picture = url.origin === SAMPLE_ORIGIN ? pictures.get(url.pathname) : undefined;
    if (picture !== undefined) {
      await route.fulfill({ body: picture, contentType: 'image/png' });
      return;
    }
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
