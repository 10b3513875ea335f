import { beforeEach, describe, expect, it } from 'vitest';
import { PageCache } from '../../../../src/service/status-pages/site/page-cache.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { captureLog } from '../../../support/log-capture.ts';

describe('names that are closed', () => {
  let pages: PageCache;
  beforeEach(() => {
    pages = new PageCache({
      clock: new FakeClock(),
      log: captureLog().log,
      findPage: async () => null,
      pageStates: { read: async () => null, conditions: async () => null },
    });
    pages.isFollowed = true;
  });

  it('stay closed until something changes', () => {
    pages.closerOf('acme')();
    expect(pages.isClosed('acme')).toBe(true);
    expect(pages.isClosed('other')).toBe(false);
    pages.outdate('an account');
    expect(pages.isClosed('acme')).toBe(false);
  });

  it('are looked up again if something changed during the look-up, such as a new page', () => {
    const close = pages.closerOf('acme');
    pages.outdate('an account');
    close();
    expect(pages.isClosed('acme')).toBe(false);
  });

  it('are looked up each time while no changes are announced', () => {
    pages.closerOf('acme')();
    pages.isFollowed = false;
    expect(pages.isClosed('acme')).toBe(false);
  });
});
