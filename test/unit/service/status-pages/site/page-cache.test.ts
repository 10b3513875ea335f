import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { beforeEach, describe, expect, it } from 'vitest';
import { statusPageSchema } from '../../../../../src/model/status-page/status-page.ts';
import {
  type FoundPage,
  PageCache,
} from '../../../../../src/service/status-pages/site/page-cache.ts';
import type { RequestedPage } from '../../../../../src/service/status-pages/site/requested-page.ts';
import type { PageState } from '../../../../../src/service/status-pages/state/page-state.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { captureLog } from '../../../../support/log-capture.ts';

const MINE = 'my account';
const THEIRS = 'their account';
const SERVICE = 'https://monitoring.example.com/status/acme';

let pages: PageCache;
let clock: FakeClock;
/** Called for each reading of a state. */
let onState: (state: PageState) => void;
let name: string;
/** Called for each reading of a page, between reading and answer. */
let onPage: () => void | Promise<void>;

beforeEach(() => {
  clock = new FakeClock();
  onState = () => {};
  onPage = () => {};
  name = 'Acme';
  pages = new PageCache({
    clock,
    log: captureLog().log,
    findPage: async (url) => {
      const found = foundPage(url, name);
      await onPage();
      return found;
    },
    pageStates: {
      read: async () => {
        const state = emptyState();
        onState(state);
        return state;
      },
      conditions: async () => null,
    },
  });
  pages.isFollowed = true;
});

function foundPage(url: string, named: string): FoundPage {
  const { cards: _, password: __, ...fields } = statusPageSchema.parse({ name: named, url });
  const gate = { accountId: MINE, id: `id of ${url}`, isPrivate: false, passwordHash: null };
  return { gate, page: { id: gate.id, fields, hasPassword: false, cards: [], pictures: {} } };
}

function emptyState(): PageState {
  return {
    readAtMs: clock.wallMs(),
    condition: 'OPERATIONAL',
    cards: [],
    incidents: [],
    pastIncidents: [],
    maintenance: [],
  };
}

async function requested(base: string = SERVICE): Promise<RequestedPage> {
  const found = await pages.find('acme');
  if (found === null) throw new Error('the page is there');
  return { accountId: MINE, page: found.page, base, path: '/status/acme' };
}

/** Announces a change, and waits until the page may be read again. */
async function change(): Promise<void> {
  pages.invalidate(MINE);
  await clock.advance(1_000);
}

describe('a page that changes while it is read', () => {
  it.each(['for the first time', 'again'])(
    '%s is answered as it is after the change',
    async (when) => {
      if (when === 'again') {
        await pages.find('acme');
        await change();
      }
      let reads = 0;
      onPage = () => {
        reads += 1;
        if (reads > 1) return;
        name = 'Changed';
        pages.pagesChanged(MINE);
      };
      expect((await pages.find('acme'))?.page.fields.name).toBe('Changed');
      expect((await pages.find('acme'))?.page.fields.name).toBe('Changed');
      expect(reads).toBe(2);
    },
  );
});

describe('names without a public page', () => {
  function lookedUp(): void {
    for (const url of ['private', 'none']) pages.unreadable.add(url, pages.unreadable.changes);
  }
  const known = () => ['private', 'none'].filter((url) => pages.isKnownUnreadable(url));

  it('are known until pages change', () => {
    lookedUp();
    expect(known()).toEqual(['private', 'none']);
    expect(pages.isKnownUnreadable('other')).toBe(false);
    pages.pagesChanged(MINE);
    expect(known()).toEqual([]);
  });

  it('stay known whatever happens to checks, of any account', () => {
    lookedUp();
    for (const accountId of [MINE, THEIRS, null]) pages.invalidate(accountId);
    expect(known()).toEqual(['private', 'none']);
  });

  it('are all looked up again when pages of any account changed, so that timing reveals nothing', () => {
    for (const accountId of [MINE, THEIRS, null]) {
      lookedUp();
      pages.pagesChanged(accountId);
      expect(known()).toEqual([]);
    }
  });

  it('are looked up again if pages changed during the look-up', () => {
    const { changes } = pages.unreadable;
    pages.pagesChanged(THEIRS);
    pages.unreadable.add('none', changes);
    expect(known()).toEqual([]);
  });

  it('are looked up each time while no changes are announced', () => {
    lookedUp();
    pages.isFollowed = false;
    expect(known()).toEqual([]);
  });

  it('are looked up each time while the connection that announces changes is lost', () => {
    lookedUp();
    pages.announcementsLost();
    expect(known()).toEqual([]);
  });
});

describe('a page', () => {
  const shown = async () => (await pages.find('acme'))?.page.fields.name;

  it('is read again at once after it was changed, because it may be private now', async () => {
    expect(await shown()).toBe('Acme');
    for (const changed of ['one', 'two']) {
      name = changed;
      pages.pagesChanged(MINE);
      expect(await shown()).toBe(changed);
    }
  });

  it('is read again at most once a second after other events', async () => {
    expect(await shown()).toBe('Acme');
    name = 'one';
    pages.invalidate(MINE);
    expect(await shown()).toBe('Acme');
    await clock.advance(1_000);
    expect(await shown()).toBe('one');
  });

  it('is current within a second while the connection that announces changes is lost, and at once after it', async () => {
    expect(await shown()).toBe('Acme');
    pages.announcementsLost();
    name = 'one';
    await clock.advance(1_000);
    expect(await shown()).toBe('one');
    name = 'two';
    pages.isFollowed = true;
    expect(await shown()).toBe('two');
    name = 'three';
    await clock.advance(1_000);
    expect(await shown()).toBe('two');
  });
});

describe('documents', () => {
  /** Gets a document of the page. Returns how many documents were made so far. */
  let made = 0;
  beforeEach(() => {
    made = 0;
  });
  async function open(base: string): Promise<number> {
    const cached = await pages.get(await requested(base));
    const { plain } = cached.document('page', () => {
      made += 1;
      return `links to ${base}`;
    });
    expect(plain.toString()).toBe(`links to ${base}`);
    return made;
  }
  async function openHistory(base: string): Promise<number> {
    const document = await pages.history(await requested(base), 'history', async () => {
      made += 1;
      return `history at ${base}`;
    });
    expect(document?.plain.toString()).toBe(`history at ${base}`);
    return made;
  }
  const host = (n: number): string => `http://host-${n}.example/status/acme`;

  it('are made once for each state and each version of the page', async () => {
    expect([await open(SERVICE), await open(SERVICE)]).toEqual([1, 1]);
    await change();
    expect([await open(SERVICE), await open(SERVICE)]).toEqual([2, 2]);
    name = 'Renamed';
    await change();
    expect([await open(SERVICE), await open(SERVICE)]).toEqual([3, 3]);
  });

  it.each([
    ['a page', open],
    ['a history', openHistory],
  ])('of %s are kept for the four latest addresses', async (_, openAt) => {
    for (const n of [0, 1, 2, 3]) await openAt(host(n));
    expect(made).toBe(4);
    for (const n of [3, 1, 0]) expect(await openAt(host(n))).toBe(4);
    // Evicts the document of the least recently used address.
    expect(pages.addresses.displaces('id of acme', host(4))).toBe(true);
    expect(await openAt(host(4))).toBe(5);
    for (const n of [0, 1, 3, 4]) {
      expect(pages.addresses.displaces('id of acme', host(n))).toBe(false);
      expect(await openAt(host(n))).toBe(5);
    }
    expect(await openAt(host(2))).toBe(6);
  });

  it('are never kept uncounted for a host that is longer than any', () => {
    expect(pages.addresses.displaces('id of acme', `http://${'a'.repeat(1_000)}`)).toBe(true);
  });

  it('do not keep the state and the page that they were made of', async () => {
    const states: WeakRef<PageState>[] = [];
    onState = (state) => states.push(new WeakRef(state));
    const page = await (async () => {
      const asked = await requested();
      (await pages.get(asked)).document('badge', () => 'a badge');
      await pages.history(asked, 'history', async () => 'a history');
      return new WeakRef(asked.page);
    })();
    name = 'Renamed';
    await change();
    await (async () => (await pages.get(await requested())).document('page', () => 'a page'))();
    expect(states).toHaveLength(2);
    await collectGarbage();
    expect([states[0]?.deref(), page.deref()]).toEqual([undefined, undefined]);
    expect(states[1]?.deref()).toBeDefined();
  });
});

/** An object is kept for the rest of the task that dereferenced or made its WeakRef. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  await setImmediate();
  collect();
}
