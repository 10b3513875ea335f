import { describe, expect, it } from 'vitest';
import { dashboardLink } from '../../../../src/service/alerts/dashboard-link.ts';
import { DASHBOARD_PATHS } from '../../../../src/web/dashboard-paths.ts';
import { noticeOf } from '../../../support/service/alert-deliveries.ts';

const BASE = 'https://vedette.test/monitoring';
const clock = { wallMs: () => 0 } as Parameters<typeof noticeOf>[0]['clock'];
const location = { id: 'c0ffee', slug: 'berlin', name: 'Berlin', checks: 3 };

/** The paths of the pages, with a part for each name. */
const PAGES = Object.values(DASHBOARD_PATHS).map(
  (path) => new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`),
);

describe('the link of a notice', () => {
  it.each([
    ['the run that led to it', {}, '/checks/home/results/result-1'],
    ['its check if the run is not known', { resultId: null }, '/checks/home'],
    ['the silent location', { location }, '/locations/c0ffee'],
    ['the heartbeat', { resultId: null, check: { checkType: 'HEARTBEAT' } }, '/heartbeats/home'],
  ] as const)('leads to a page that exists: %s', (_, fields, path) => {
    const link = dashboardLink(noticeOf({ clock }, fields), BASE);
    expect(link).toBe(`${BASE}${path}`);
    const [pathname = ''] = path.split('?');
    expect(PAGES.some((page) => page.test(pathname))).toBe(true);
  });

  it('is none without PUBLIC_URL', () => {
    expect(dashboardLink(noticeOf({ clock }), null)).toBeNull();
  });
});
