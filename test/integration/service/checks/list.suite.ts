import { randomBytes, randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { type CheckWithChannels, createChecks } from '../../../../src/service/checks/checks.ts';
import type { Store } from '../../../../src/service/database/store.ts';
import type { Reply } from '../../../support/service/service-app.ts';
import {
  ALL_CHECKS,
  NONE_OUTDATED,
  TEST_CHECK_VARIABLES,
} from '../../../support/service/service-features.ts';
import {
  problemsIn,
  type RunningService,
  useAccounts,
} from '../../../support/service/service-fixture.ts';

const URL_CHECK = { locations: ['eu-west-1'], request: { url: 'https://example.com/' } };
const TCP_CHECK = { ...URL_CHECK, request: { hostname: 'example.com', port: 22 } };

const idsIn = (reply: Reply): readonly string[] =>
  reply.json.map((check: { id: string }) => check.id);

/** Filters and parts of the list: src/model/README.md, "Fields of every check". */
export function checkListSuite(running: () => RunningService): void {
  describe('the list of checks', () => {
    const service = useAccounts(running, 'shared');

    beforeAll(async () => {
      const { mine, clock } = service();
      const put = async (path: string, body: object): Promise<void> => {
        expect((await mine.put(path, body)).status).toBe(200);
        clock.spend(1000);
      };
      await put('/v1/checks/url/e', { ...URL_CHECK, name: 'Home Page', tags: ['web', 'eu'] });
      await put('/v1/checks/tcp/d', { ...TCP_CHECK, name: 'SSH 100%', tags: ['infra', 'eu'] });
      await put('/v1/checks/url/c', { ...URL_CHECK, name: 'ÄRGER_PAGE', tags: ['web'] });
      await put('/v1/checks/api/b', { ...URL_CHECK, name: 'a\\b', tags: [] });
      await put('/v1/checks/url/a', { ...URL_CHECK, name: 'shop STRAßE 😀', tags: ['web,eu'] });
    });

    it.each([
      ['', 'edcba'],
      ['?type=TCP', 'd'],
      ['?type=TCP&type=API', 'db'],
      ['?tag=web', 'ec'],
      ['?tag=infra&tag=web', 'edc'],
      ['?tag=web%2Ceu', 'a'],
      ['?tag=WEB', ''],
      ['?tag=eu&type=URL', 'e'],
      ['?search=page', 'ec'],
      ['?search=%25', 'd'],
      ['?search=r_p', 'c'],
      ['?search=a%5C', 'b'],
      ['?search=%C3%A4rger', 'c'],
      ['?search=Stra%C3%9Fe', 'a'],
      ['?search=.', ''],
      ['?search=%5Bs%5D', ''],
      ['?search=%F0%9F%98%80', 'a'],
      ['?search=h&tag=eu&type=TCP', 'd'],
      ['?search=', 'edcba'],
      ['?search=%00', ''],
      ['?tag=%00', ''],
      ['?limit=2', 'ed'],
      ['?limit=2&page=2', 'cb'],
      ['?limit=2&page=3', 'a'],
      ['?limit=2&page=4', ''],
      ['?limit=100&page=1', 'edcba'],
      ['?page=1000000000', ''],
    ])('%s', async (query, ids) => {
      const { mine } = service();
      const listed = await mine.get(`/v1/checks${query}`);
      expect(listed.status).toBe(200);
      expect(idsIn(listed).join('')).toBe(ids);
    });

    it('contains one type if the path names one', async () => {
      const { mine } = service();
      expect(idsIn(await mine.get('/v1/checks/url?limit=2'))).toEqual(['e', 'c']);
      expect(idsIn(await mine.get('/v1/checks/dns'))).toEqual([]);
      expect((await mine.get('/v1/checks/url?type=TCP')).status).toBe(400);
    });

    it.each([
      'limit=0',
      'limit=101',
      'limit=-1',
      'limit=1.5',
      'limit=x',
      'limit=',
      'limit=1&limit=2',
      'page=0',
      'page=x',
      'page=1e3',
      'page=99999999999999999999',
      'type=BROWSER',
      'type=',
      'tags=a',
    ])('refuses ?%s', async (query) => {
      const { mine } = service();
      const refused = await mine.get(`/v1/checks?${query}`);
      expect(refused.status).toBe(400);
      expect(problemsIn(refused)[0]).toContain(`query.${query.split('=')[0]}`);
    });
  });

  describe('a page of long checks', () => {
    const service = useAccounts(running);
    /** A megabyte each: four that cannot be compressed, and four of which the database keeps a few KB. */
    const bodies = [
      ...Array.from({ length: 4 }, () => randomBytes(750_000).toString('base64')),
      ...Array.from({ length: 4 }, (_, index) => String(index).repeat(1_000_000)),
    ];

    it('is read a few at a time, on demand', async () => {
      const { mine, store, clock } = service();
      for (const [index, body] of bodies.entries()) {
        const request = { url: 'https://example.com/', method: 'POST', bodyType: 'RAW', body };
        const put = await mine.put(`/v1/checks/api/${index}`, { ...URL_CHECK, request });
        expect(put.status).toBe(200);
        clock.spend(1000);
      }
      const readBytes: number[] = [];
      const watched: Store = Object.assign(Object.create(store), {
        query: async (text: string, params?: readonly unknown[]) => {
          const rows = await store.query(text, params);
          readBytes.push(JSON.stringify(rows).length);
          return rows;
        },
      });
      const checks = createChecks({
        store: watched,
        clock,
        ids: randomUUID,
        checkVariables: TEST_CHECK_VARIABLES,
        outdatedStates: NONE_OUTDATED,
      });
      const asked = { ...ALL_CHECKS, limit: 100, page: 1 };
      const slices = checks.list(mine.accountId, asked)[Symbol.asyncIterator]();
      const first = await slices.next();
      expect(first.value).toHaveLength(4);
      // The queries: the ids, the first checks and their channels.
      expect(readBytes).toHaveLength(3);
      const ids: string[] = first.value.map(({ check }: CheckWithChannels) => check.id);
      for (let next = await slices.next(); !next.done; next = await slices.next()) {
        ids.push(...next.value.map(({ check }) => check.id));
      }
      expect(ids.join('')).toBe('01234567');
      expect(Math.max(...readBytes)).toBeLessThan(4.2 * 1024 * 1024);
      const listed = await mine.get('/v1/checks?limit=100');
      expect(listed.json.map((check: { request: { body: string } }) => check.request.body)).toEqual(
        bodies,
      );
    });
  });
}
