import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type {
  PictureKind,
  PictureOutcome,
} from '../../../../../src/service/status-pages/pictures/picture.ts';
import { databases } from '../../../../support/database/databases.ts';
import { eventually } from '../../../../support/eventually.ts';
import { testFeatures } from '../../../../support/service/service-features.ts';
import { useAccounts, useRunningService } from '../../../../support/service/service-fixture.ts';

const PATH = '/v1/status-pages';
const LOGO = 'https://a.test/logo.png';
const ICON = 'https://a.test/icon.ico';
const MINUTE_MS = 60_000;

function pictureOf(text: string): PictureOutcome {
  return {
    ok: true,
    picture: { type: 'image/png', width: 4, height: 2, bytes: Buffer.from(text) },
  };
}
const AWAY: PictureOutcome = {
  ok: false,
  problem: 'the response was the status 503',
  isFinal: false,
};
const REFUSED: PictureOutcome = { ok: false, problem: 'SVG files are not accepted', isFinal: true };

/** The pictures of the URLs, and the fetched URLs. */
const fetched: string[] = [];
let answer: (kind: PictureKind, url: string) => PictureOutcome | Promise<PictureOutcome>;
const pictureSource = {
  fetch: async (kind: PictureKind, url: string) => {
    fetched.push(url);
    return await answer(kind, url);
  },
  close: async () => {},
};

let made = 0;

describe.each(databases)('on %s', (kind) => {
  const running = useRunningService(kind, { pictureSource });
  const service = useAccounts(running);

  async function newPage(fields: object) {
    made += 1;
    fetched.length = 0;
    const { mine } = service();
    const created = await mine.post(PATH, { name: 'A', url: `picture-${made}`, ...fields });
    expect(created.status, created.text).toBe(201);
    const id: string = created.json.id;
    return {
      id,
      path: `${PATH}/${id}`,
      json: created.json,
      key: (of: PictureKind) => ({ accountId: mine.accountId, pageId: id, kind: of }),
      shown: async (of: PictureKind) => {
        const { features } = service();
        const key = { accountId: mine.accountId, pageId: id, kind: of };
        const picture = await features.pagePictures.read(key, null);
        return picture === null ? null : picture.bytes.toString();
      },
    };
  }

  describe('the pictures of a status page', () => {
    it('are fetched when it is created, and read with the hash of their bytes', async () => {
      answer = (of) => pictureOf(of);
      const { json, shown, key } = await newPage({ logo: LOGO, favicon: ICON });
      expect(json).not.toHaveProperty('warnings');
      expect(json).toMatchObject({ logo: LOGO, favicon: ICON });
      expect(new Set(fetched)).toEqual(new Set([ICON, LOGO]));
      expect([await shown('logo'), await shown('favicon')]).toEqual(['logo', 'favicon']);
      const hash = createHash('sha256').update('logo').digest('base64url').slice(0, 22);
      const { pagePictures } = service().features;
      expect(await pagePictures.read(key('logo'), hash)).toMatchObject({
        hash,
        type: 'image/png',
        width: 4,
        height: 2,
      });
    });

    it('are not fetched again while their URLs stay the same', async () => {
      answer = (of) => pictureOf(of);
      const { path, json } = await newPage({ logo: LOGO });
      const { mine } = service();
      expect((await mine.put(path, { ...json, name: 'B' })).status).toBe(200);
      expect((await mine.patch(path, { logo: LOGO })).status).toBe(200);
      expect(fetched).toEqual([LOGO]);
    });

    it('that cannot be fetched do not keep the page from being saved, and it says why', async () => {
      answer = () => AWAY;
      const { path, json, shown } = await newPage({ logo: LOGO });
      const { mine } = service();
      const warnings = [
        {
          code: 'PICTURE_NOT_FETCHED',
          path: 'logo',
          message:
            'The logo could not be fetched: the response was the status 503. The service tries again; until then the page shows none.',
        },
      ];
      expect(json.warnings).toEqual(warnings);
      expect((await mine.get(path)).json.warnings).toEqual(warnings);
      const listed = (await mine.get(PATH)).json.find(
        (page: { id: string }) => page.id === json.id,
      );
      expect(listed).not.toHaveProperty('warnings');
      expect(await shown('logo')).toBeNull();
      // A response may be sent back. Saving it fetches the picture again.
      answer = (of) => pictureOf(of);
      const saved = await mine.put(path, json);
      expect(saved.status).toBe(200);
      expect(saved.json).not.toHaveProperty('warnings');
      expect(await shown('logo')).toBe('logo');
    });

    it('stay until a new one is fetched', async () => {
      answer = () => pictureOf('old');
      const { path, shown } = await newPage({ logo: LOGO });
      const { mine } = service();
      answer = () => REFUSED;
      const changed = await mine.patch(path, { logo: ICON });
      expect(changed.json.warnings[0].message).toBe(
        'The logo could not be fetched: SVG files are not accepted. To try again, save the page or call fetch-pictures; until then the page shows the one before.',
      );
      expect(await shown('logo')).toBe('old');
      // The picture of the first URL is still there.
      fetched.length = 0;
      const back = await mine.patch(path, { logo: LOGO });
      expect(back.json).not.toHaveProperty('warnings');
      expect(fetched).toEqual([]);
    });

    it('are gone when the page has no URL for them', async () => {
      answer = () => pictureOf('old');
      const { path, shown } = await newPage({ logo: LOGO });
      await service().mine.patch(path, { logo: null });
      expect(await shown('logo')).toBeNull();
    });

    it('are fetched again on request, and stay if that fails', async () => {
      answer = () => pictureOf('old');
      const { path, shown } = await newPage({ logo: LOGO });
      const { mine, theirs } = service();
      answer = () => AWAY;
      const failed = await mine.post(`${path}/fetch-pictures`);
      expect(failed.json.warnings).toMatchObject([{ path: 'logo' }]);
      expect(await shown('logo')).toBe('old');
      answer = () => pictureOf('new');
      const done = await mine.post(`${path}/fetch-pictures`);
      expect(done.status).toBe(200);
      expect(done.json).not.toHaveProperty('warnings');
      expect(await shown('logo')).toBe('new');
      expect((await theirs.post(`${path}/fetch-pictures`)).status).toBe(404);
    });

    it('do not change the ETag of the page', async () => {
      answer = () => AWAY;
      const { path } = await newPage({ logo: LOGO });
      const { mine } = service();
      const { etag = '' } = (await mine.get(path)).headers;
      answer = () => pictureOf('new');
      await mine.post(`${path}/fetch-pictures`);
      const saved = await mine.ask('PATCH', path, { name: 'B' }, { 'if-match': etag });
      expect(saved.status).toBe(200);
    });

    it('are fetched by one replica only, also where several notice them at once', async () => {
      const { id, shown } = await newPage({});
      const { store, clock, features, mine } = service();
      const other = await testFeatures(store, clock, { pictureSource });
      answer = () => pictureOf('logo');
      await store.query('update status_pages set logo = $2 where id = $1', [id, LOGO]);
      const key = { accountId: mine.accountId, id };
      const replicas = [features, other.features];
      await Promise.all(replicas.map(({ pagePictures }) => pagePictures.fetch(key, ['logo'])));
      await other.close();
      expect(fetched).toEqual([LOGO]);
      expect(await shown('logo')).toBe('logo');
    });

    it('are fetched one at a time for each account, which claims them only then', async () => {
      made += 1;
      fetched.length = 0;
      const arrivals: (() => void)[] = [];
      answer = (_, url) =>
        url.includes('/slow-')
          ? new Promise((resolve) => arrivals.push(() => resolve(pictureOf(url))))
          : pictureOf(url);
      const { mine, theirs, store, clock } = service();
      const urls = Array.from({ length: 6 }, (_, index) => `https://a.test/slow-${index}.png`);
      const creating = urls.map((logo, index) =>
        mine.post(PATH, { name: 'A', url: `slow-${made}-${index}`, logo }),
      );
      const rowsOf = <Row extends Record<string, unknown>>(
        columns: string,
        table: string,
        column: string,
      ) => store.query<Row>(`select ${columns} from ${table} where ${column} like '%/slow-%'`);
      const claims = () =>
        rowsOf<{ hash: string | null; nextAttemptAt: Date | null }>(
          'hash, next_attempt_at',
          'status_page_pictures',
          'url',
        );
      let saved = 0;
      while (saved < urls.length) saved = (await rowsOf('id', 'status_pages', 'logo')).length;
      await eventually(() => arrivals.length > 0);
      const other = await theirs.post(PATH, { name: 'B', url: `other-${made}`, logo: LOGO });
      expect(other.json).not.toHaveProperty('warnings');
      expect(await claims()).toHaveLength(1);
      for (let done = 1; done <= urls.length; done += 1) {
        expect(arrivals).toHaveLength(done);
        // Together they take longer than a lease.
        clock.spend(MINUTE_MS);
        const claimableMs = clock.wallMs();
        arrivals[done - 1]?.();
        if (done === urls.length) break;
        await eventually(() => arrivals.length > done);
        const open = (await claims()).filter(({ hash }) => hash === null);
        expect(open).toHaveLength(1);
        expect(open[0]?.nextAttemptAt?.getTime()).toBe(claimableMs + 2 * MINUTE_MS);
      }
      for (const created of await Promise.all(creating)) {
        expect(created.json).not.toHaveProperty('warnings');
      }
      expect(fetched.filter((url) => url.includes('/slow-'))).toHaveLength(urls.length);
    });

    it('that take long are fetched after the response', async () => {
      let arrive: (outcome: PictureOutcome) => void = () => {};
      answer = () => new Promise((resolve) => (arrive = resolve));
      const { clock } = service();
      const creating = newPage({ logo: LOGO });
      await eventually(() => fetched.length > 0);
      await clock.advance(5_000);
      const { json, path, shown } = await creating;
      expect(json.warnings).toMatchObject([
        { message: 'The logo is still being fetched; until then the page shows none.' },
      ]);
      // Saving it meanwhile waits for the same fetch.
      const saving = service().mine.patch(path, { logo: LOGO });
      arrive(pictureOf('late'));
      expect((await saving).json).not.toHaveProperty('warnings');
      expect(await shown('logo')).toBe('late');
      expect(fetched).toEqual([LOGO]);
    });
  });

  describe('the background work for pictures', () => {
    /** Runs that of another replica until the condition holds. */
    async function workUntil(condition: () => Promise<boolean>): Promise<void> {
      const { store, clock } = service();
      const replica = await testFeatures(store, clock, { pictureSource });
      const stop = new AbortController();
      const working = replica.features.pagePictures.maintain(stop.signal);
      while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
      stop.abort();
      await working;
      await replica.close();
    }

    it('reaches every account, however many pictures of one account are due', async () => {
      answer = () => AWAY;
      const { mine, theirs, store, clock } = service();
      made += 1;
      const own = { logo: 'https://mine.test/logo.png', favicon: 'https://mine.test/icon.ico' };
      for (let index = 0; index < 25; index += 1) {
        await mine.post(PATH, { name: 'A', url: `due-${made}-${index}`, ...own });
      }
      const their = 'https://theirs.test/logo.png';
      await theirs.post(PATH, { name: 'B', url: `due-${made}`, logo: their });
      await clock.advance(2 * MINUTE_MS);
      fetched.length = 0;
      answer = (of) => pictureOf(of);
      await workUntil(async () => {
        const [row] = await store.query<{ count: number }>(
          `select count(*) as count from status_page_pictures s
             join status_pages p on p.id = s.status_page_id
           where s.hash is not null and p.url like 'due-${made}%'`,
        );
        return row?.count === 51;
      });
      const ofBoth = fetched.filter((url) => [own.logo, own.favicon, their].includes(url));
      expect(ofBoth).toHaveLength(51);
      expect(ofBoth.slice(0, 5)).toContain(their);
    });

    it('fetches pictures of pages that an earlier release saved, retries, and deletes unused pictures', async () => {
      answer = () => AWAY;
      const { id, shown, path } = await newPage({ logo: LOGO });
      const { store, clock, mine } = service();
      await store.query('update status_pages set favicon = $2 where id = $1', [id, ICON]);
      answer = (of) => pictureOf(of);
      await clock.advance(2 * MINUTE_MS);
      fetched.length = 0;
      const both = async () => [await shown('favicon'), await shown('logo')].join();
      await workUntil(async () => (await both()) === 'favicon,logo');
      expect(new Set(fetched)).toEqual(new Set([ICON, LOGO]));
      expect((await mine.get(path)).json).not.toHaveProperty('warnings');
    });
  });
});
