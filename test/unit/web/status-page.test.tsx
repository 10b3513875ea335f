import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { StatusPageView } from '../../../src/service/status-pages/site/view/status-page.tsx';
import type { PageState } from '../../../src/service/status-pages/state/page-state.ts';
import { renderHtml } from '../../../src/web/status/layout.tsx';
import {
  calmState,
  SAMPLE_NOW_MS,
  sampleDays,
  sampleIncident,
  sampleMaintenance,
  samplePage,
  sampleService,
  sampleStates,
  withConditions,
} from '../../support/status-pages/sample-states.ts';

const MAX_BYTES = 50 * 1024;

function htmlOf(state: PageState, { fields = {}, isStale = false } = {}): string {
  return renderHtml(
    <StatusPageView requested={samplePage(fields)} state={state} isStale={isStale} />,
  );
}

/** What the reader reads, with one space for markup. */
function textOf(html: string): string {
  return html
    .replace(/<style>.*?<\/style>/s, '')
    .replaceAll(/<(title|svg)\b.*?<\/\1>/gs, ' ')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');
}

const withServices = (...services: PageState['cards'][number]['services']): PageState => ({
  ...calmState(0),
  cards: [{ id: 'card', name: 'Services', services }],
});

describe('the sentence at the top', () => {
  it.each([
    [calmState(3), 'All services are operational'],
    [calmState(1), 'Shop is operational'],
    [{ ...calmState(0), cards: [] }, 'This page shows no services yet'],
    [withConditions(calmState(3), { 'service-1': 'DEGRADED' }), 'Payments is degraded'],
    [
      withConditions(calmState(3), { 'service-1': 'MAJOR_OUTAGE' }),
      'Payments has a major outage Since 22 Nov 2026, 09:12 UTC . The other 2 services are operational.',
    ],
    [
      withConditions(calmState(5), {
        'service-1': 'PARTIAL_OUTAGE',
        'service-2': 'PARTIAL_OUTAGE',
        'service-3': 'DEGRADED',
      }),
      '2 services have a partial outage Since 22 Nov 2026, 09:12 UTC . 1 other service has a problem, too.',
    ],
    [withConditions(calmState(2), { 'service-0': 'UNKNOWN' }), 'Shop has no recent data'],
    [withConditions(calmState(2), { 'service-0': 'MAINTENANCE' }), 'Shop is under maintenance'],
  ])('says what is broken, and since when', (state, sentence) => {
    expect(textOf(htmlOf(state))).toContain(` ${sentence} `);
  });

  it('is in the title of the browser tab, too', () => {
    expect(htmlOf(calmState(3))).toContain('<title>All services are operational – Acme</title>');
  });

  it('says how old the state is if a newer one cannot be read', () => {
    const text = textOf(htmlOf(calmState(3), { isStale: true }));
    expect(text).toContain('Newer data is not available at the moment. This is the state as of');
    expect(textOf(htmlOf(calmState(3)))).not.toContain('Newer data');
  });
});

describe('a service', () => {
  it('shows its condition in words, its availability and its usual response time', () => {
    const service = sampleService({ id: 'shop', condition: 'DEGRADED', responseTimeMs: 1_234 });
    const text = textOf(htmlOf(withServices(service)));
    for (const words of ['Degraded', '99.987 % available', 'Usually 1.23 s']) {
      expect(text).toContain(words);
    }
  });

  it.each([
    [1, '100 %'],
    [0.999_999_9, '99.999 %'],
    [0.9999, '99.99 %'],
    [0.29, '29 %'],
    [0, '0 %'],
  ])('does not round the availability %d up', (availability, shown) => {
    const history = { unit: 'run', availability, days: sampleDays() } as const;
    expect(textOf(htmlOf(withServices(sampleService({ id: 'shop', history }))))).toContain(
      ` ${shown} available`,
    );
  });

  it('has neither bars nor availability where nothing is measured', () => {
    const html = htmlOf(withServices(sampleService({ id: 'shop', history: null })));
    expect(html).not.toContain('class="days"');
    expect(html).not.toContain('available');
  });
});

describe('the bars of days', () => {
  const days = sampleDays({
    10: { condition: 'DEGRADED', failures: 1, degraded: 40, missed: 2 },
    11: {
      condition: 'MAJOR_OUTAGE',
      failures: 1_000,
      incidents: [{ id: 'i', name: 'Fire in the data centre' }],
    },
    12: { condition: 'MAINTENANCE', maintenance: ['Upgrade'] },
  });
  const html = htmlOf(
    withServices(sampleService({ id: 'shop', history: { unit: 'run', availability: 1, days } })),
  );

  it('speak of minutes without a ping where only heartbeats measure the service', () => {
    const history = { unit: 'minute', availability: 1, days } as const;
    const text = textOf(htmlOf(withServices(sampleService({ id: 'backup', history }))));
    expect(text).toContain('no ping in time for 1,000 of ');
    expect(text).toContain(' minutes');
    expect(text).not.toContain('runs failed');
  });

  it('are one element for each stretch of equal days', () => {
    expect(html.match(/<path class="OPERATIONAL" d="M/g)).toHaveLength(2);
    expect(html).toContain('<path class="OPERATIONAL" d="M0 12h79"');
    expect(html).toContain('<path class="OPERATIONAL" d="M104 12h615"');
  });

  it('say what happened on a day to the pointer and in a list', () => {
    const outage = 'Major outage, 1,000 of 1,440 runs failed';
    expect(html).toContain(`<title>5 Sept: ${outage}\nFire in the data centre</title>`);
    const log = textOf(/<details>.*?<\/details>/s.exec(html)?.[0] ?? '');
    expect(log).toContain('3 days with events');
    expect(log).toContain(`5 Sept ${outage} . Fire in the data centre`);
    expect(log).toContain(
      'Degraded, 1 of 1,440 runs failed, 40 runs were slow, 2 runs did not take place',
    );
    expect(log).toContain('Maintenance . Maintenance: Upgrade');
  });

  it('have a name for readers of screens', () => {
    expect(html).toContain('aria-label="The last 90 days: 3 days with events"');
  });
});

it('shows open incidents with their updates, the newest first', () => {
  const text = textOf(htmlOf({ ...calmState(3), incidents: [sampleIncident()] }));
  expect(text).toContain('Open incidents Card payments are slow Degraded');
  expect(text).toContain('Affects Payments');
  expect(text.indexOf('The bank answers again')).toBeLessThan(text.indexOf('None are lost'));
});

it('tells running maintenance from planned', () => {
  const running = sampleMaintenance({ id: '2', name: 'Now', isRunning: true });
  const text = textOf(htmlOf({ ...calmState(5), maintenance: [running, sampleMaintenance()] }));
  expect(text).toContain('Maintenance Now Under way');
  expect(text).toContain('Planned maintenance Upgrade of the warehouse database Planned');
  expect(text).toContain('24 Nov 2026, 10:32 to 14:32 UTC Affects Warehouse interface');
});

it.each(Object.entries(sampleStates()))('%s takes at most 50 KB', (_, state) => {
  const html = htmlOf(state);
  expect(gzipSync(html).length).toBeLessThanOrEqual(MAX_BYTES);
  expect(html).not.toContain('<script');
  expect(html).not.toMatch(/(?:src|href)="(?:https?:)?\/\/(?!monitor\.example\.com)/);
});

it('takes at most 50 KB with 120 services that had something on each day', () => {
  const busy = sampleDays(
    Object.fromEntries(
      Array.from({ length: 90 }, (_, index) => [
        index,
        { condition: 'DEGRADED' as const, failures: index * 7, degraded: 1_300 - index * 11 },
      ]),
    ),
  );
  const services = Array.from({ length: 120 }, (_, index) =>
    sampleService({
      id: `s${index}`,
      name: `Service ${index}`,
      sinceMs: SAMPLE_NOW_MS - index,
      history: { unit: 'run', availability: 1 - index / 1_000, days: busy },
    }),
  );
  expect(gzipSync(htmlOf(withServices(...services))).length).toBeLessThanOrEqual(MAX_BYTES);
});
