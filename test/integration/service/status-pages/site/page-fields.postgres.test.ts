import { describe, expect, it } from 'vitest';
import type { StatusPage } from '../../../../../src/model/status-page/status-page.ts';
import { databases } from '../../../../support/database/databases.ts';
import type { Reply } from '../../../../support/service/service-app.ts';
import { useAccounts, useRunningService } from '../../../../support/service/service-fixture.ts';

/** The HTML of a page for readers, by the path below its address. */
type Read = (path?: string, headers?: Readonly<Record<string, string>>) => Promise<Reply>;

interface Effect {
  readonly value: unknown;
  /** Expects that the page shows the value. Fails on a page without it. */
  readonly isSeen: (
    read: Read,
    given: { readonly url: string; readonly host: string },
  ) => Promise<boolean>;
}

const inHtml =
  (...parts: readonly string[]) =>
  async (read: Read): Promise<boolean> => {
    const { text } = await read();
    return parts.every((part) => text.includes(part));
  };

const LOGO = 'https://a.test/logo.png';
const ICON = 'https://a.test/icon.png';
const pictureSource = {
  fetch: async (_: string, url: string) => ({
    ok: true as const,
    picture: { type: 'image/png' as const, width: 4, height: 2, bytes: Buffer.from(url) },
  }),
  close: async () => {},
};

/**
 * A field without an effect does not compile here. `logicalId` is for check files alone, and the password
 * is tested in access/private-pages.postgres.test.ts.
 */
const EFFECTS: Readonly<
  Record<Exclude<keyof StatusPage, 'logicalId' | 'cards' | 'password'>, Effect>
> = {
  name: { value: 'Another name', isSeen: inHtml('dir="auto">Another name</a>', '– Another name<') },
  url: {
    value: 'another-url',
    isSeen: async (read) => (await read()).text.includes('href="/status/another-url/history"'),
  },
  description: {
    value: 'New words',
    isSeen: inHtml('<meta name="description" content="New words"', '>New words</p>'),
  },
  customDomain: {
    value: 'status.fields.example',
    isSeen: async (read, { host }) => {
      const { status, text } = await read('', { host });
      return status === 200 && text.includes('href="/history"');
    },
  },
  themeColors: {
    value: { light: { cardBackgroundColor: '#abcdef' } },
    isSeen: inHtml('--card:#abcdef'),
  },
  defaultTheme: { value: 'DARK', isSeen: inHtml('@media screen{:root{') },
  logo: {
    value: LOGO,
    isSeen: async (read) =>
      (await read()).text.includes('<img src=') && (await read('/logo')).text === LOGO,
  },
  favicon: {
    value: ICON,
    isSeen: async (read) =>
      (await read()).text.includes('/favicon?v=') && (await read('/favicon')).text === ICON,
  },
  redirectTo: {
    value: 'https://acme.example/home',
    isSeen: inHtml('<a class="brand" href="https://acme.example/home"'),
  },
  whiteLabel: {
    value: true,
    isSeen: async (read) => !(await read()).text.includes('Vedette'),
  },
  isPrivate: { value: true, isSeen: async (read) => (await read()).status === 404 },
};

describe.each(databases)('every field of a status page, on %s', (kind) => {
  const running = useRunningService(kind, { pictureSource });
  const service = useAccounts(running);

  it.each(Object.entries(EFFECTS))('%s changes what readers get', async (field, effect) => {
    const { mine } = service();
    const made = await mine.post('/v1/status-pages', {
      name: 'Acme',
      url: `field-${field.toLowerCase()}`,
    });
    expect(made.status, made.text).toBe(201);
    let { url } = made.json as { url: string };
    const host = 'status.fields.example';
    const read: Read = (path = '', headers = {}) => {
      const base = headers.host === undefined ? `/status/${url}` : '/';
      return running().app.ask(`${base}${path}`, { key: null, headers });
    };
    const isSeen = () => effect.isSeen(read, { url, host });
    expect(await isSeen(), 'without it').toBe(false);
    const body = { [field]: effect.value };
    const changed = await mine.patch(`/v1/status-pages/${made.json.id}`, body);
    expect(changed.status, changed.text).toBe(200);
    url = changed.json.url;
    await running().features.statusSite.readDomains();
    expect(await isSeen(), 'with it').toBe(true);
  });

  it('cards and their services are shown in the order that they have', async () => {
    const { mine } = service();
    const ids: string[] = [];
    for (const name of ['Shop', 'Search', 'Mail']) {
      ids.push((await mine.post('/v1/status-pages/services', { name })).json.id);
    }
    const [shop, search, mail] = ids;
    const cards = [
      { name: 'First card', services: [search, shop] },
      { name: 'Second card', services: [mail] },
    ];
    const page = { name: 'Acme', url: 'fields-of-cards', cards };
    const { id } = (await mine.post('/v1/status-pages', page)).json;
    const headings = async (): Promise<readonly string[]> => {
      const { text } = await running().app.ask('/status/fields-of-cards', { key: null });
      return [...text.matchAll(/<h[23]><bdi>(.*?)<\/bdi>/g)].map(([, name = '']) => name);
    };
    expect(await headings()).toEqual(['First card', 'Search', 'Shop', 'Second card', 'Mail']);
    await mine.patch(`/v1/status-pages/${id}`, { cards: cards.toReversed() });
    expect(await headings()).toEqual(['Second card', 'Mail', 'First card', 'Search', 'Shop']);
  });
});
