import { once } from 'node:events';
import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { sleep } from '../../../runtime/wait.ts';
import { WakeSignal } from '../../../runtime/wake-signal.ts';
import type { Store } from '../../database/store.ts';
import { EVENTS_CHANNEL } from '../../events/shared.sql.ts';
import { STATUS_PAGES_CHANNEL } from '../sql.ts';
import type { PageStates } from '../state/page-state.ts';
import { CustomDomains } from './custom-domains.ts';
import type { DomainRules } from './domain-rules.ts';
import { PageCache } from './page-cache.ts';
import { findPageByUrl, listCustomDomains } from './sql.ts';

export interface StatusSiteParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly pageStates: PageStates;
  readonly domainRules: DomainRules;
}

/** The site with the status pages for readers (src/service/README.md, "Pages that people open"). */
export interface StatusSite {
  readonly pages: PageCache;
  readonly domains: CustomDomains;
  /** Reads the custom domains again. */
  readDomains(): Promise<void>;
  /** Follows changes until the signal aborts. Never rejects. */
  maintain(signal: AbortSignal): Promise<void>;
}

const MAX_DOMAINS = 10_000;
/** How often to read the domains, in case a notification was lost. */
const READ_DOMAINS_MS = 60_000;
const RETRY_MS = 1_000;

export function createStatusSite(parts: StatusSiteParts): StatusSite {
  const { store, clock, log } = parts;
  const findPage = (url: string) => findPageByUrl(store, url);
  const pages = new PageCache({ ...parts, findPage });
  const domains = new CustomDomains(parts.domainRules);
  const domainsChanged = new WakeSignal();

  async function readDomains(): Promise<void> {
    const found = await listCustomDomains(store, MAX_DOMAINS);
    if (found.length === MAX_DOMAINS) {
      log.warn(
        `status pages have more than ${MAX_DOMAINS} custom domains: only the oldest are served`,
      );
    }
    domains.set(found);
  }

  async function followDomains(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await readDomains();
        await domainsChanged.wait(clock, READ_DOMAINS_MS, signal);
      } catch (error) {
        log.warn(`custom domains could not be read, trying again: ${messageOf(error)}`);
      }
      // Combines many concurrent changes into one reading.
      await sleep(clock, RETRY_MS, signal);
    }
  }

  async function followPages(signal: AbortSignal): Promise<void> {
    const ends: (() => Promise<void>)[] = [];
    while (!signal.aborted && ends.length === 0) {
      try {
        const onGap = (): void => {
          // Also marks all cached pages as outdated.
          pages.isFollowed = true;
          domainsChanged.ring();
        };
        const onLost = (): void => pages.announcementsLost();
        const onChange = (accountId: string): void => {
          pages.pagesChanged(accountId);
          domainsChanged.ring();
        };
        ends.push(await store.listen(STATUS_PAGES_CHANNEL, onChange, onGap, onLost));
        const onEvent = (accountId: string): void => pages.invalidate(accountId);
        ends.push(await store.listen(EVENTS_CHANNEL, onEvent, () => pages.invalidate(null)));
        pages.isFollowed = true;
        if (!signal.aborted) await once(signal, 'abort');
      } catch (error) {
        log.warn(`not notified of changes of status pages, trying again: ${messageOf(error)}`);
        for (const end of ends.splice(0)) await end();
        await sleep(clock, RETRY_MS, signal);
      }
    }
    pages.isFollowed = false;
    for (const end of ends) await end();
  }

  return {
    pages,
    domains,
    readDomains,
    async maintain(signal) {
      await Promise.all([followPages(signal), followDomains(signal)]);
    },
  };
}
