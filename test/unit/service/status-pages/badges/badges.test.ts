import { describe, expect, it } from 'vitest';
import { badgeOf } from '../../../../../src/service/status-pages/badges/badges.ts';
import {
  BADGE_COLORS,
  badgeSvg,
} from '../../../../../src/service/status-pages/badges/draw-badge.ts';
import type { PageState } from '../../../../../src/service/status-pages/state/page-state.ts';
import {
  calmState,
  sampleDays,
  sampleService,
  withConditions,
} from '../../../../support/status-pages/sample-states.ts';
import { childrenOf, textOf, xmlTree } from '../../../../support/xml-tree.ts';

function pageOf(...services: readonly ReturnType<typeof sampleService>[]): PageState {
  return { ...calmState(0), cards: [{ id: 'c', name: 'Card', services }] };
}

const STATE = { kind: 'state', days: 90, serviceId: null } as const;
const UPTIME = { kind: 'uptime', days: 90, serviceId: null } as const;
const TIME = { kind: 'response-time', days: 90, serviceId: null } as const;

describe('what a badge says', () => {
  it('is the condition of the page or of a service, in words and in colour', () => {
    const state = {
      ...withConditions(calmState(2), { 'service-1': 'MAJOR_OUTAGE' }),
      condition: 'MAJOR_OUTAGE',
    } as const;
    const red = { value: 'major outage', color: 'red' };
    expect(badgeOf(state, STATE)).toEqual({ label: 'status', ...red });
    expect(badgeOf(state, { ...STATE, serviceId: 'service-1' })).toEqual({
      label: 'Payments',
      ...red,
    });
    expect(badgeOf(state, { ...STATE, serviceId: 'service-0' })).toMatchObject({
      value: 'operational',
      color: 'green',
    });
  });

  it('is the uptime over the asked days, never rounded up, and over 90 days as the page shows it', () => {
    const days = sampleDays({
      89: { runs: 1_000, failures: 1 },
      0: { runs: 1_000, failures: 500 },
    });
    const history = { availability: 0.99612, days } as const;
    const state = pageOf(sampleService({ id: 's', name: 'Shop', history }));
    const of = { ...UPTIME, serviceId: 's' };
    expect(badgeOf(state, of)).toEqual({
      name: 'Shop',
      label: 'uptime',
      value: '99.61 %',
      color: 'yellow',
    });
    expect(badgeOf(state, { ...of, days: 1 })).toMatchObject({ value: '99.90 %', color: 'green' });
    expect(badgeOf(state, { ...of, days: 7 })).toMatchObject({ value: '99.98 %' });
  });

  it('averages the services with an availability', () => {
    const one = (id: string, availability: number | null, responseTimeMs: number | null) =>
      sampleService({
        id,
        responseTimeMs,
        history: availability === null ? null : { availability, days: sampleDays() },
      });
    const state = pageOf(one('a', 1, 100), one('b', 0.5, 300), one('c', null, null));
    expect(badgeOf(state, UPTIME)).toMatchObject({
      label: 'uptime',
      value: '75.00 %',
      color: 'red',
    });
    expect(badgeOf(state, TIME)).toMatchObject({ label: 'response time', value: '200 ms' });
  });

  it('is that there is no data where nothing was measured', () => {
    const state = pageOf(sampleService({ id: 's', history: null, responseTimeMs: null }));
    for (const of of [UPTIME, TIME]) {
      expect(badgeOf(state, { ...of, serviceId: 's' })).toMatchObject({
        value: 'no data',
        color: 'gray',
      });
    }
    expect(badgeOf(calmState(0), UPTIME)).toMatchObject({ value: 'no data' });
  });

  it('has no badge for an unknown service', () => {
    expect(badgeOf(calmState(2), { ...STATE, serviceId: 'other' })).toBeNull();
  });
});

describe('the picture of a badge', () => {
  const draw = (label: string, value = 'operational') =>
    xmlTree(badgeSvg({ label, value, color: 'green' }));

  it('has its text as a title and as label for screen readers', () => {
    const svg = draw('Shop');
    expect(svg.attributes).toMatchObject({ role: 'img', 'aria-label': 'Shop: operational' });
    expect(textOf(svg, 'title')).toBe('Shop: operational');
  });

  it('is well-formed and shows the text alone, whatever the label contains', () => {
    const svg = draw(`"><script>alert(1)</script>\u0000\ud800`);
    expect(JSON.stringify(svg)).not.toContain('"name":"script"');
    expect(textOf(svg, 'title')).toContain('"><script>');
  });

  it('is wider for longer and for wide texts, and cuts very long ones', () => {
    const width = (label: string) => Number(draw(label).attributes.width);
    expect(width('Shop and search')).toBeGreaterThan(width('Shop'));
    expect(width('商店商店')).toBeGreaterThan(width('shop'));
    expect(width('mmmm')).toBeGreaterThan(width('iiii'));
    expect(draw('x'.repeat(255)).attributes['aria-label']).toBe(`${'x'.repeat(63)}…: operational`);
    expect(width('x'.repeat(255))).toBeLessThan(700);
    const ofService = {
      name: 'x'.repeat(255),
      label: 'uptime',
      value: '1 %',
      color: 'red',
    } as const;
    expect(xmlTree(badgeSvg(ofService)).attributes['aria-label']).toBe(
      `${'x'.repeat(47)}… uptime: 1 %`,
    );
    expect(width('e\u0301'.repeat(4))).toBe(width('eeee'));
  });

  it('keeps its texts inside their boxes', () => {
    for (const label of ['Shop', 'متجر', '👩‍👩‍👧‍👦 family', 'WWWW']) {
      const svg = draw(label);
      const [, words] = childrenOf(svg, 'g');
      for (const text of childrenOf(words ?? svg, 'text')) {
        const [middle, length] = [Number(text.attributes.x), Number(text.attributes.textLength)];
        expect(middle - length / 2).toBeGreaterThanOrEqual(0);
        expect(middle + length / 2).toBeLessThanOrEqual(Number(svg.attributes.width));
      }
    }
  });

  it.each(Object.entries(BADGE_COLORS))('has enough contrast in %s', (_, color) => {
    const channels = [1, 3, 5].map((at) => {
      const value = Number.parseInt(color.slice(at, at + 2), 16) / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    const [red = 0, green = 0, blue = 0] = channels;
    const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    expect(1.05 / (luminance + 0.05)).toBeGreaterThanOrEqual(4.5);
  });
});
