import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { monthAt } from '../../../../src/service/status-pages/history/months.ts';
import { HistoryView } from '../../../../src/service/status-pages/history/view/history.tsx';
import { StatusPageView } from '../../../../src/service/status-pages/site/view/status-page.tsx';
import type { PageState } from '../../../../src/service/status-pages/state/page-state.ts';
import { renderHtml } from '../../../../src/web/status/layout.tsx';
import {
  calmState,
  SAMPLE_NOW_MS,
  sampleDays,
  sampleIncident,
  sampleMaintenance,
  samplePage,
  samplePastIncident,
  sampleService,
  sampleStates,
  withConditions,
} from '../../../support/status-pages/sample-states.ts';

const MAX_BYTES = 50 * 1024;

function htmlOf(state: PageState, { fields = {}, isStale = false } = {}): string {
  return renderHtml(
    <StatusPageView requested={samplePage(fields)} state={state} isStale={isStale} />,
  );
}

/** The visible text, with one space for each tag. */
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
      '2 services have a partial outage Since 22 Nov 2026, 09:12 UTC . Another service has a problem, too.',
    ],
    [withConditions(calmState(2), { 'service-0': 'UNKNOWN' }), 'Shop has no current data'],
    [withConditions(calmState(2), { 'service-0': 'MAINTENANCE' }), 'Shop is under maintenance'],
  ])('says which service has an outage, and since when', (state, sentence) => {
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

describe('the services with a problem that the sentence does not name', () => {
  const targetsIn = (html: string) =>
    [...html.matchAll(/<li class="service" id="([^"]*)"/g)].length;

  it('are listed, ten at most, and the others counted', () => {
    const broken = Array.from(
      { length: 12 },
      (_, index) => [`service-${index}`, 'DEGRADED'] as const,
    );
    const html = htmlOf(withConditions(calmState(30), Object.fromEntries(broken)));
    expect(textOf(html)).toContain('Invoices Degraded and 2 others ');
    expect(html.match(/<a href="#service-/g)).toHaveLength(10);
    expect(targetsIn(html)).toBe(12);
  });

  it('are not listed where all have the same problem', () => {
    const all = { 'service-0': 'MAJOR_OUTAGE', 'service-1': 'MAJOR_OUTAGE' } as const;
    expect(htmlOf(withConditions(calmState(2), all))).not.toContain('class="troubled"');
  });

  it('link to the first card that has them', () => {
    const state = withConditions(calmState(3), {
      'service-1': 'DEGRADED',
      'service-2': 'DEGRADED',
    });
    const [card] = state.cards;
    const again = card === undefined ? [] : [{ ...card, id: 'another' }];
    expect(targetsIn(htmlOf({ ...state, cards: [...state.cards, ...again] }))).toBe(2);
  });
});

describe('a service', () => {
  it('shows its condition in words, its availability and its usual response time', () => {
    const service = sampleService({ id: 'shop', usualResponseTimeMs: 1_234 });
    const text = textOf(htmlOf(withServices(service)));
    for (const words of ['Operational', '99.98 % available', 'Usually 1.23 s']) {
      expect(text).toContain(words);
    }
  });

  it.each([
    ['DEGRADED', 2_431, 184, 'Now 2.43 s, usually 184 ms'],
    ['DEGRADED', null, 184, 'Usually 184 ms'],
    ['MAJOR_OUTAGE', null, 184, 'Usually 184 ms'],
    ['OPERATIONAL', 2_431, 184, 'Usually 184 ms'],
    ['OPERATIONAL', 184, null, 'Responds in 184 ms'],
  ] as const)(
    'that is %s, responds in %s ms and usually in %s ms shows that',
    (condition, responseTimeMs, usualResponseTimeMs, words) => {
      const own = { condition, responseTimeMs, usualResponseTimeMs };
      const service = sampleService({ id: 'shop', ...own });
      expect(textOf(htmlOf(withServices(service)))).toContain(` ${words} `);
    },
  );

  it.each([
    [1, '100 %'],
    [0.999_999_9, '99.99 %'],
    [0.9999, '99.99 %'],
    [0.29, '29.00 %'],
    [0, '0.00 %'],
  ])('does not round the availability %d up', (availability, shown) => {
    const history = { availability, days: sampleDays() };
    expect(textOf(htmlOf(withServices(sampleService({ id: 'shop', history }))))).toContain(
      ` ${shown} available`,
    );
  });

  it.each([
    [SAMPLE_NOW_MS - 80 * 60_000, 'Since 09:12 UTC'],
    [SAMPLE_NOW_MS - 24 * 3_600_000, 'Since 21 Nov, 10:32 UTC'],
    [Date.UTC(2025, 11, 31, 23, 59), 'Since 31 Dec 2025, 23:59 UTC'],
  ])(
    'that is degraded since %d says so, as short as the time of the page allows',
    (sinceMs, words) => {
      const service = sampleService({ id: 'shop', condition: 'DEGRADED', sinceMs });
      expect(textOf(htmlOf(withServices(service)))).toContain(` ${words} `);
    },
  );

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
    20: { degraded: 12 },
    21: { missed: 180 },
    22: { condition: 'MAJOR_OUTAGE', failures: 1_440 },
    30: { condition: 'UNKNOWN', runs: 0, missed: 1_440 },
    31: { condition: 'UNKNOWN', runs: 0 },
    89: { condition: 'UNKNOWN', runs: 0 },
  });
  const html = htmlOf(
    withServices(sampleService({ id: 'shop', history: { availability: 1, days } })),
  );

  it('are one element for each stretch of equal days', () => {
    expect(html).toContain('<path class="OPERATIONAL" d="M0 12h79"></path>');
    expect(html).toContain('<path class="OPERATIONAL" d="M104 12h55"></path>');
    expect(html).toContain('<path class="UNKNOWN" d="M240 12h15">');
    expect(html).toContain('<path class="OPERATIONAL event" d="M160 12h7">');
  });

  it('say what happened on a day to the pointer and in a list', () => {
    const outage = 'Major outage, failing 16 h 40 min';
    expect(html).toContain(`<title>5 Sept: ${outage}\nFire in the data centre</title>`);
    expect(html).toContain('<title>24 Sept to 25 Sept: No data</title>');
    expect(html).toContain('<title>22 Nov: No data</title>');
    const log = textOf(/<details>.*?<\/details>/s.exec(html)?.[0] ?? '');
    expect(log).toContain('6 days with events, 2 days without data');
    expect(log).toContain(`5 Sept ${outage} . Fire in the data centre`);
    expect(log).toContain('4 Sept Failing 1 min, degraded 40 min, not measured 2 min');
    expect(log).toContain('6 Sept Maintenance . Maintenance: Upgrade');
    expect(log).toContain('14 Sept Degraded 12 min');
    expect(log).toContain('15 Sept Not measured 3 h');
    expect(log).toContain('16 Sept Major outage, failing all day');
    expect(log).toContain('24 Sept to 25 Sept No data');
    // The day has just begun.
    expect(log).not.toContain('22 Nov');
  });

  it('have a name for readers of screens', () => {
    expect(html).toContain(
      'aria-label="The last 90 days: 6 days with events, 2 days without data"',
    );
    const calm = htmlOf(withServices(sampleService({ id: 'shop' })));
    expect(calm).toContain('aria-label="The last 90 days: no problem"');
  });
});

it('shows open incidents with their updates, the newest first', () => {
  const text = textOf(htmlOf({ ...calmState(3), incidents: [sampleIncident()] }));
  expect(text).toContain('Open incidents Card payments are slow Degraded');
  expect(text).toContain('Affects Payments');
  expect(text.indexOf('The bank answers again')).toBeLessThan(text.indexOf('None are lost'));
});

describe('the past incidents', () => {
  const incidentsOf = (count: number) =>
    Array.from({ length: count }, (_, index) =>
      samplePastIncident({ id: `past-${index}`, name: `Incident ${index}` }),
    );

  it('are named with their day, impact and length, and lead to their permanent pages', () => {
    const html = htmlOf({ ...calmState(3), pastIncidents: [samplePastIncident()] });
    expect(textOf(html)).toContain(
      'Past incidents 18 Nov 2026 Sign-in fails Partial outage, 14 min All incidents and maintenance',
    );
    expect(html).toContain('<a href="/status/acme/incidents/past-1">Sign-in fails</a>');
    expect(html).toContain('<a href="/status/acme/history">All incidents and maintenance</a>');
  });

  it('are at most ten: the others are in the history', () => {
    const text = textOf(htmlOf({ ...calmState(3), pastIncidents: incidentsOf(12) }));
    expect(text).toContain('Incident 9');
    expect(text).not.toContain('Incident 10');
  });

  it('are none where none was resolved, which the page says without denying the open ones', () => {
    const text = textOf(htmlOf({ ...calmState(3), incidents: [sampleIncident()] }));
    expect(text).toContain('Past incidents None in the last 14 days.');
  });
});

it('says in the history how long an incident took, and how long maintenance', () => {
  const at = { startMs: SAMPLE_NOW_MS, serviceIds: [], id: 'e' };
  const events = [
    { ...at, kind: 'incident', name: 'Brief', severity: 'MAJOR', endMs: at.startMs + 30_000 },
    { ...at, kind: 'maintenance', name: 'Move', endMs: at.startMs + 7_200_000 },
    { ...at, kind: 'incident', name: 'Open', severity: 'MAJOR', endMs: null },
  ] as const;
  const months = [{ month: monthAt(SAMPLE_NOW_MS), events, notShown: 0 }];
  const shown = { requested: samplePage(), months, later: null, earlier: null, names: new Map() };
  const text = textOf(renderHtml(<HistoryView {...shown} />));
  expect(text).toMatch(/Brief .* Resolved after less than a minute Move .* Lasted 2 h Open/);
  expect(text.match(/Resolved after|Lasted/g)).toHaveLength(2);
});

describe('the name at the top', () => {
  it.each([
    [{}, '/status/acme'],
    [{ redirectTo: 'https://acme.example/' }, 'https://acme.example/'],
  ])('leads without a logo, with the fields %j, to %s', (fields, target) => {
    const html = htmlOf(calmState(3), { fields });
    expect(html).toContain(`<a class="brand" href="${target}" dir="auto">Acme</a>`);
  });
});

it('distinguishes running maintenance from planned', () => {
  const running = sampleMaintenance({ id: '2', name: 'Now', isRunning: true });
  const text = textOf(htmlOf({ ...calmState(5), maintenance: [running, sampleMaintenance()] }));
  expect(text).toContain('Maintenance Now Under way');
  expect(text).toContain('Planned maintenance Upgrade of the warehouse database Planned');
  expect(text).toContain('24 Nov 2026, 10:32 to 14:32 UTC Affects Warehouse interface');
});

it('says at the top of a long page that maintenance is planned below, and when', () => {
  const topOf = (count: number) => {
    const html = htmlOf({ ...calmState(count), maintenance: [sampleMaintenance()] });
    expect(html).toContain('id="planned"');
    return /<section class="now .*?<\/section>/s.exec(html)?.[0] ?? '';
  };
  const top = topOf(30);
  expect(top).toContain('<a href="#planned">');
  expect(textOf(top)).toContain('Maintenance is planned for 24 Nov 2026, 10:32 UTC .');
  expect(topOf(8)).not.toContain('planned');
});

it('names ten affected services at most, and counts the others', () => {
  const affects = (affected: number, all: number) => {
    const serviceIds = Array.from({ length: affected }, (_, index) => `service-${index}`);
    const text = textOf(
      htmlOf({ ...calmState(all), maintenance: [sampleMaintenance({ serviceIds })] }),
    );
    return /Affects (.*?) Past incidents/.exec(text)?.[1];
  };
  expect(affects(10, 10)).toMatch(/^Shop , .* , Invoices\s*$/);
  expect(affects(11, 30)).toMatch(/^Shop , .* , Invoices and 1 other\s*$/);
  expect(affects(15, 30)).toMatch(/ and 5 others\s*$/);
  expect(affects(120, 120)).toMatch(/^all 120 services\s*$/);
});

it('shows one time for an incident that took less than a minute', () => {
  const startMs = SAMPLE_NOW_MS;
  const brief = sampleMaintenance({ startMs, endMs: startMs + 2_000 });
  const text = textOf(htmlOf({ ...calmState(3), maintenance: [brief] }));
  expect(text).toContain(' 22 Nov 2026, 10:32 UTC ');
  expect(text).not.toContain('10:32 to');
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
        {
          condition: 'DEGRADED' as const,
          failures: 1 + index * 7,
          degraded: 1_300 - index * 11,
          missed: 1 + ((index * 37) % 600),
        },
      ]),
    ),
  );
  const services = Array.from({ length: 120 }, (_, index) =>
    sampleService({
      id: `s${index}`,
      name: `Service ${index}`,
      sinceMs: SAMPLE_NOW_MS - index,
      history: { availability: 1 - index / 1_000, days: busy },
    }),
  );
  expect(gzipSync(htmlOf(withServices(...services))).length).toBeLessThanOrEqual(MAX_BYTES);
});
