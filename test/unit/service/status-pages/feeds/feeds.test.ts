import { describe, expect, it } from 'vitest';
import { atomFeed } from '../../../../../src/service/status-pages/feeds/atom.ts';
import { feedOf } from '../../../../../src/service/status-pages/feeds/entries.ts';
import { rssFeed } from '../../../../../src/service/status-pages/feeds/rss.ts';
import {
  pageSummaryOf,
  pageSummarySchema,
} from '../../../../../src/service/status-pages/feeds/summary.ts';
import type { RequestedPage } from '../../../../../src/service/status-pages/site/requested-page.ts';
import type { PageState } from '../../../../../src/service/status-pages/state/page-state.ts';
import {
  calmState,
  SAMPLE_NOW_MS,
  sampleIncident,
  sampleMaintenance,
  samplePage,
} from '../../../../support/status-pages/sample-states.ts';
import { childrenOf, textOf, xmlTree } from '../../../../support/xml-tree.ts';

const PAGE_ID = '5f0c8a8e-0000-4000-8000-000000000001';
const INCIDENT_ID = '5f0c8a8e-0000-4000-8000-000000000002';
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Markup, what XML cannot contain, halves of pairs, an emoji and Arabic. */
const HOSTILE = `<b>&amp;"'</b>]]>\u0000\u000b\ufffe\ud83d \udc4d 👍 متجر\u202e`;

function requested(fields: object = {}, base = 'https://host.test/status/acme'): RequestedPage {
  const { page } = samplePage(fields);
  return {
    accountId: 'account',
    base,
    path: '/status/acme',
    page: { id: PAGE_ID, cards: [], fields: page.fields, hasPassword: false, pictures: {} },
  };
}

function stateWith(own: Partial<PageState>): PageState {
  return { ...calmState(3), ...own };
}

function atomOf(state: PageState, page = requested()) {
  return xmlTree(atomFeed(feedOf(page, state), `${page.base}/feed.atom`));
}

function rssOf(state: PageState, page = requested()) {
  const [channel] = childrenOf(
    xmlTree(rssFeed(feedOf(page, state), `${page.base}/feed.rss`)),
    'channel',
  );
  if (channel === undefined) throw new Error('the feed has no channel');
  return channel;
}

function updateAt(atMs: number, description = 'We look into it.') {
  return { id: `u${atMs}`, status: 'MONITORING' as const, description, atMs };
}

describe('the Atom feed of a status page', () => {
  it('has what RFC 4287 requires, for the page and for each incident and maintenance', () => {
    const startedAtMs = SAMPLE_NOW_MS - HOUR_MS;
    const incident = sampleIncident({
      id: INCIDENT_ID,
      name: 'Shop slow',
      startedAtMs,
      serviceIds: ['service-0'],
      updates: [updateAt(SAMPLE_NOW_MS - 1_000, 'Fixed.\nWe watch it.')],
    });
    const maintenance = sampleMaintenance({
      name: 'Move',
      startMs: SAMPLE_NOW_MS + DAY_MS,
      endMs: SAMPLE_NOW_MS + DAY_MS + HOUR_MS,
      isRunning: false,
    });
    const feed = atomOf(stateWith({ incidents: [incident], maintenance: [maintenance] }));
    expect(feed.attributes.xmlns).toBe('http://www.w3.org/2005/Atom');
    expect(textOf(feed, 'id')).toBe(`urn:uuid:${PAGE_ID}`);
    expect(textOf(feed, 'title')).toBe('Acme');
    expect(textOf(feed, 'updated')).toBe(new Date(SAMPLE_NOW_MS - 1_000).toISOString());
    expect(textOf(childrenOf(feed, 'author')[0] ?? feed, 'name')).toBe('Acme');
    expect(childrenOf(feed, 'link').map(({ attributes }) => attributes)).toEqual([
      {
        rel: 'self',
        type: 'application/atom+xml',
        href: 'https://host.test/status/acme/feed.atom',
      },
      { rel: 'alternate', type: 'text/html', href: 'https://host.test/status/acme' },
    ]);
    const [first, second] = childrenOf(feed, 'entry');
    if (first === undefined || second === undefined) throw new Error('an entry is missing');
    expect(textOf(first, 'id')).toBe(`urn:uuid:${INCIDENT_ID}`);
    expect(textOf(first, 'title')).toBe('Shop slow');
    expect(textOf(first, 'published')).toBe(new Date(startedAtMs).toISOString());
    expect(textOf(first, 'updated')).toBe(new Date(SAMPLE_NOW_MS - 1_000).toISOString());
    expect(textOf(first, 'content')).toContain('<p>Affected: Shop</p>');
    expect(textOf(first, 'content')).toContain('<strong>Monitoring</strong>');
    expect(textOf(first, 'content')).toContain('Fixed.<br>We watch it.');
    expect(textOf(second, 'title')).toBe('Maintenance: Move');
    expect(textOf(second, 'id')).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab]/);
    expect(Date.parse(textOf(second, 'updated'))).toBeLessThan(SAMPLE_NOW_MS);
  });

  it('dates a maintenance when pages announced it and when its window was changed, not before', () => {
    const startMs = SAMPLE_NOW_MS + 7 * DAY_MS;
    const entryOf = (own: Partial<ReturnType<typeof sampleMaintenance>>) => {
      const [entry] = childrenOf(
        atomOf(stateWith({ maintenance: [sampleMaintenance({ startMs, ...own })] })),
        'entry',
      );
      if (entry === undefined) throw new Error('the entry is missing');
      return ['published', 'updated'].map((name) => Date.parse(textOf(entry, name)));
    };
    const announcedMs = SAMPLE_NOW_MS - 2 * HOUR_MS;
    const changedAtMs = SAMPLE_NOW_MS - HOUR_MS;
    expect(entryOf({ announcedMs, changedAtMs: announcedMs })).toEqual([announcedMs, announcedMs]);
    expect(entryOf({ announcedMs, changedAtMs })).toEqual([announcedMs, changedAtMs]);
    const running = { startMs: SAMPLE_NOW_MS, isRunning: true, announcedMs, changedAtMs };
    expect(entryOf(running)).toEqual([announcedMs, SAMPLE_NOW_MS]);
  });

  it('names ten affected services of an entry at most, and counts the others', () => {
    const serviceIds = Array.from({ length: 30 }, (_, index) => `service-${index}`);
    const contentOf = (affected: number) => {
      const maintenance = [sampleMaintenance({ serviceIds: serviceIds.slice(0, affected) })];
      const [entry] = childrenOf(atomOf({ ...calmState(30), maintenance }), 'entry');
      return entry === undefined ? '' : textOf(entry, 'content');
    };
    expect(contentOf(11)).toMatch(/<p>Affected: Shop, .*, Invoices and 1 other<\/p>/);
    expect(contentOf(30)).toContain('<p>Affected: all 30 services</p>');
  });

  it('is empty but valid for a page where nothing happened, and the same all day', () => {
    const state = calmState(0);
    const feed = atomOf(state);
    expect(childrenOf(feed, 'entry')).toEqual([]);
    expect(textOf(feed, 'updated')).toBe('2026-11-22T00:00:00.000Z');
    const later = { ...state, readAtMs: state.readAtMs + HOUR_MS };
    expect(atomOf(later)).toEqual(feed);
  });

  it('keeps the ids of its entries when the page moves and when an incident is resolved', () => {
    const incident = sampleIncident({ id: INCIDENT_ID });
    const maintenance = [sampleMaintenance({})];
    const idsOf = (feed: ReturnType<typeof atomOf>) =>
      childrenOf(feed, 'entry').map((entry) => textOf(entry, 'id'));
    const before = idsOf(atomOf(stateWith({ incidents: [incident], maintenance })));
    const resolved = { ...incident, status: 'RESOLVED' as const };
    const after = atomOf(
      stateWith({ pastIncidents: [resolved], maintenance }),
      requested({ name: 'Other' }, 'https://status.acme.test'),
    );
    expect(before).toHaveLength(2);
    expect(new Set(idsOf(after))).toEqual(new Set(before));
  });

  it('has an entry for each time that maintenance repeats', () => {
    const maintenance = [1, 2].map((day) =>
      sampleMaintenance({ id: '7', startMs: SAMPLE_NOW_MS + day * DAY_MS }),
    );
    const ids = childrenOf(atomOf(stateWith({ maintenance })), 'entry').map((entry) =>
      textOf(entry, 'id'),
    );
    expect(new Set(ids).size).toBe(2);
  });
});

describe('the RSS feed of a status page', () => {
  it('has what RSS 2.0 requires', () => {
    const incident = sampleIncident({ id: INCIDENT_ID, name: 'Shop slow' });
    const channel = rssOf(stateWith({ incidents: [incident] }));
    expect(textOf(channel, 'title')).toBe('Acme');
    expect(textOf(channel, 'link')).toBe('https://host.test/status/acme');
    expect(textOf(channel, 'description')).toContain('How the services of Acme are doing');
    const [item] = childrenOf(channel, 'item');
    if (item === undefined) throw new Error('the item is missing');
    expect(textOf(item, 'title')).toBe('Shop slow');
    expect(textOf(item, 'guid')).toBe(`urn:uuid:${INCIDENT_ID}`);
    expect(childrenOf(item, 'guid')[0]?.attributes).toEqual({ isPermaLink: 'false' });
    expect(textOf(item, 'link')).toBe(`https://host.test/status/acme/incidents/${INCIDENT_ID}`);
    expect(textOf(item, 'pubDate')).toMatch(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/);
  });
});

describe.each([
  ['Atom', (state: PageState, page: RequestedPage) => atomOf(state, page)],
  ['RSS', (state: PageState, page: RequestedPage) => rssOf(state, page)],
])('a feed in %s', (form, made) => {
  it('says in the title of an incident that it is resolved, and of no other', () => {
    const past = sampleIncident({ id: INCIDENT_ID, name: 'Shop slow', status: 'RESOLVED' });
    const open = sampleIncident({ name: 'Shop down', status: 'MONITORING' });
    const feed = made(stateWith({ incidents: [open], pastIncidents: [past] }), requested());
    const titles = childrenOf(feed, form === 'Atom' ? 'entry' : 'item').map((entry) =>
      textOf(entry, 'title'),
    );
    expect(titles.toSorted()).toEqual(['Resolved: Shop slow', 'Shop down']);
  });

  it('is well-formed whatever the texts contain, and shows markup as text', () => {
    const incident = sampleIncident({
      name: HOSTILE,
      serviceIds: ['service-0'],
      updates: [updateAt(SAMPLE_NOW_MS, HOSTILE)],
    });
    const maintenance = sampleMaintenance({ name: HOSTILE, description: HOSTILE });
    const base = calmState(1);
    const cards = base.cards.map((card) => ({
      ...card,
      services: card.services.map((service) => ({ ...service, name: HOSTILE })),
    }));
    const state = { ...base, cards, incidents: [incident], maintenance: [maintenance] };
    const feed = made(state, requested({ name: HOSTILE, description: HOSTILE }));
    // U+FFFD stands for each character that XML cannot contain.
    const shown = `<b>&amp;"'</b>]]>\ufffd\ufffd\ufffd\ufffd \ufffd 👍 متجر\u202e`;
    expect(textOf(feed, 'title')).toBe(shown);
    for (const entry of childrenOf(feed, form === 'Atom' ? 'entry' : 'item')) {
      expect(textOf(entry, 'title')).toContain(shown);
      const html = textOf(entry, form === 'Atom' ? 'content' : 'description');
      expect(html).toContain('&lt;b&gt;');
      expect(html).not.toContain('<b>');
    }
  });

  it('has at most 50 entries with 10,000 characters each, the newest first', () => {
    const incidents = Array.from({ length: 100 }, (_, n) =>
      sampleIncident({
        id: INCIDENT_ID,
        name: `Incident ${n}`,
        startedAtMs: SAMPLE_NOW_MS - DAY_MS,
        updates: Array.from({ length: 500 }, (_, u) =>
          updateAt(SAMPLE_NOW_MS - (100 - n) * 1_000 - u * 10_000, 'x'.repeat(2_000)),
        ),
      }),
    );
    const feed = made({ ...calmState(1_000), incidents }, requested());
    const entries = childrenOf(feed, form === 'Atom' ? 'entry' : 'item');
    expect(entries).toHaveLength(50);
    expect(textOf(entries[0] ?? feed, 'title')).toBe('Incident 99');
    for (const entry of entries) {
      const html = textOf(entry, form === 'Atom' ? 'content' : 'description');
      expect(html.length).toBeLessThan(12_000);
      expect(html).toContain('Earlier updates are on the page.');
    }
  });
});

describe('the summary of a status page', () => {
  it('has the documented form', () => {
    const state = stateWith({
      condition: 'DEGRADED',
      incidents: [
        sampleIncident({
          id: INCIDENT_ID,
          updates: [updateAt(SAMPLE_NOW_MS, 'The newest'), updateAt(SAMPLE_NOW_MS - 1, 'Older')],
        }),
      ],
      maintenance: [sampleMaintenance({})],
    });
    const summary = pageSummarySchema.parse(
      JSON.parse(JSON.stringify(pageSummaryOf(requested(), state))),
    );
    expect(summary).toMatchObject({
      version: 1,
      page: { name: 'Acme', url: 'https://host.test/status/acme' },
      condition: 'DEGRADED',
    });
    expect(summary.cards[0]?.services[0]).toMatchObject({
      name: 'Shop',
      condition: 'OPERATIONAL',
      availability: state.cards[0]?.services[0]?.history?.availability,
    });
    expect(summary.incidents[0]).toMatchObject({
      url: `https://host.test/status/acme/incidents/${INCIDENT_ID}`,
      latestUpdate: { description: 'The newest', at: new Date(SAMPLE_NOW_MS).toISOString() },
    });
    expect(summary.maintenance).toHaveLength(1);
  });

  it('is bounded for 1,000 services and 100 incidents with 500 long updates', () => {
    const incidents = Array.from({ length: 100 }, () =>
      sampleIncident({
        updates: Array.from({ length: 500 }, (_, u) => updateAt(u, 'x'.repeat(2_000))),
      }),
    );
    const text = JSON.stringify(pageSummaryOf(requested(), { ...calmState(1_000), incidents }));
    expect(text.length).toBeLessThan(600_000);
  });
});
