import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Store } from '../../../../../src/service/database/store.ts';
import { DomainRules } from '../../../../../src/service/status-pages/site/domain-rules.ts';
import { createStatusSite } from '../../../../../src/service/status-pages/site/site.ts';
import { STATUS_PAGES_CHANNEL } from '../../../../../src/service/status-pages/sql.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { captureLog } from '../../../../support/log-capture.ts';

type Listening = Parameters<Store['listen']>;

it('the site of status pages trusts what it knows only while the database announces changes', async () => {
  const listening = new Map<string, Listening>();
  const store = {
    query: async () => [],
    listen: async (...given: Listening) => {
      listening.set(given[0], given);
      return async () => {};
    },
  } as unknown as Store;
  const { pages, maintain } = createStatusSite({
    store,
    clock: new FakeClock(),
    log: captureLog().log,
    pageStates: { read: async () => null, conditions: async () => null },
    domainRules: new DomainRules({ publicUrl: null, serviceHosts: [], customDomains: null }),
  });
  const lookedUp = (): boolean => {
    pages.unreadable.add('acme', pages.unreadable.changes);
    return pages.isKnownUnreadable('acme');
  };
  const stop = new AbortController();
  expect(lookedUp()).toBe(false);
  const maintaining = maintain(stop.signal);
  while (!lookedUp()) await setImmediate();
  const [, , onGap, onLost] = listening.get(STATUS_PAGES_CHANNEL) ?? [];
  onLost?.();
  expect(lookedUp()).toBe(false);
  onGap?.();
  // Everything that was cached before the gap may have changed.
  expect(pages.isKnownUnreadable('acme')).toBe(false);
  expect(lookedUp()).toBe(true);
  stop.abort();
  await maintaining;
  expect(lookedUp()).toBe(false);
});
