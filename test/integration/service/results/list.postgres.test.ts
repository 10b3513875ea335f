import { describe, expect, it } from 'vitest';
import { databases } from '../../../support/database/databases.ts';
import {
  minutesAgo,
  NOW,
  type Run,
  resultOfRun,
  useResultsFixture,
} from '../../../support/service/results-fixture.ts';
import { problemsIn, useRunningService } from '../../../support/service/service-fixture.ts';

const PATH = '/v1/check-results/shop';

/** `GET /v1/check-results/{checkId}` (src/service/README.md, "The API"), and one result of it. */
describe.each(databases)('on %s', (kind) => {
  describe('the list of results', () => {
    const fixture = useResultsFixture(useRunningService(kind));

    /** Brings runs of berlin and oslo. */
    const bring = async (...runs: readonly Run[]): Promise<void> => {
      const { berlin, oslo, deliver } = fixture();
      for (const location of [berlin, oslo]) {
        const own = runs.filter(({ runLocation = 'berlin' }) => runLocation === location.slug);
        await deliver(location, { results: own.map(resultOfRun) });
      }
    };
    /** Minutes ago of the slots that are listed. */
    const listed = async (query = ''): Promise<number[]> => {
      const reply = await fixture().mine.get(`${PATH}${query}`);
      expect([reply.status, reply.headers['content-type']]).toEqual([
        200,
        'application/json; charset=utf-8',
      ]);
      return reply.json.map(
        ({ checkRunId }: { checkRunId: number }) => (NOW - checkRunId) / 60_000,
      );
    };
    const statusOf = async (query: string): Promise<number> =>
      (await fixture().mine.get(`${PATH}${query}`)).status;

    it('has the FINALs of the last six hours, newest first, ten a page', async () => {
      const minutes = Array.from({ length: 12 }, (_, n) => n + 1);
      await bring(
        ...minutes.map((ago) => ({ slot: minutesAgo(ago) })),
        { slot: minutesAgo(361) },
        { slot: minutesAgo(2), resultType: 'ATTEMPT', attempts: 1 },
      );
      expect(await listed()).toEqual(minutes.slice(0, 10));
      expect(await listed('?page=2')).toEqual([11, 12]);
      expect(await listed('?page=3')).toEqual([]);
      expect(await listed('?limit=3&page=2')).toEqual([4, 5, 6]);
      expect(await listed('?limit=100')).toEqual(minutes);
    });

    it('accepts any window, with from included and to excluded', async () => {
      const created = (ago: number) => Math.floor(minutesAgo(ago) / 1000);
      const at = (ago: number): Run => ({
        slot: minutesAgo(ago),
        created_at: new Date(minutesAgo(ago)).toISOString(),
      });
      await bring(at(60 * 24 * 20), at(400), at(300), at(2), at(1));
      expect(await listed(`?from=${created(400)}&to=${created(2)}`)).toEqual([300, 400]);
      expect(await listed(`?from=${created(300) + 1}&to=${created(1)}`)).toEqual([2]);
      // Without `to`: six hours from `from` on.
      expect(await listed(`?from=${created(400)}`)).toEqual([300, 400]);
      expect(await listed(`?to=${created(1)}`)).toEqual([2, 300]);
      expect(await listed(`?from=${minutesAgo(400)}&to=${minutesAgo(399)}`)).toEqual([400]);
      expect(await listed(`?from=0&to=${created(0)}`)).toEqual([1, 2, 300, 400, 28_800]);
      expect(await listed(`?from=${created(1)}&to=${created(400)}`)).toEqual([]);
    });

    it('is filtered by location, type, failures and kind of result', async () => {
      await bring(
        { slot: minutesAgo(1), hasFailures: true },
        { slot: minutesAgo(2), runLocation: 'oslo' },
        { slot: minutesAgo(3), resultType: 'ATTEMPT', hasFailures: true },
        { slot: minutesAgo(4), attempts: 1 },
      );
      const filters: [string, number[]][] = [
        ['location=oslo', [2]],
        ['location=berlin', [1, 4]],
        ['location=eu-west-1', []],
        ['location=%00', []],
        ['checkType=URL', [1, 2, 4]],
        ['checkType=BROWSER', []],
        ['hasFailures=true', [1]],
        ['hasFailures=false', [2, 4]],
        ['resultType=FINAL', [1, 2, 4]],
        ['resultType=ATTEMPT', [3]],
        ['resultType=ALL', [1, 2, 3, 4]],
        ['resultType=ALL&hasFailures=true&location=berlin&limit=1&page=2', [3]],
      ];
      for (const [query, found] of filters) {
        expect([query, await listed(`?${query}`)]).toEqual([query, found]);
      }
    });

    it('refuses invalid parameters', async () => {
      const wrong = [
        'limit=0',
        'limit=101',
        'page=0',
        'from=-1',
        'from=1.5',
        'from=now',
        'to=1e400',
        'from=999999999999999',
        'hasFailures=yes',
        'hasFailures=',
        'checkType=url',
        'resultType=SOME',
        'location=',
        'unknown=1',
      ];
      for (const query of wrong) expect([query, await statusOf(`?${query}`)]).toEqual([query, 400]);
    });

    it('is only for existing checks of the account', async () => {
      const { mine, theirs } = fixture();
      await bring({ slot: minutesAgo(1) });
      const [result] = (await mine.get(PATH)).json;
      expect((await theirs.get(PATH)).status).toBe(404);
      expect((await theirs.get(`${PATH}/${result.id}`)).status).toBe(404);
      expect((await theirs.get('/v1/check-statuses/shop')).status).toBe(404);
      expect((await mine.get('/v1/check-results/none')).status).toBe(404);
      expect((await mine.get('/v1/check-statuses/none')).status).toBe(404);
      await mine.delete('/v1/checks/shop');
      expect((await mine.get(PATH)).status).toBe(404);
      // A new check under the same id has no results.
      await fixture().check('shop');
      expect((await mine.get('/v1/check-statuses/shop')).json).toBeNull();
    });

    it('has each result by its id', async () => {
      const { mine } = fixture();
      await bring({ slot: minutesAgo(1) }, { slot: minutesAgo(2) });
      const [, result] = (await mine.get(PATH)).json;
      const reply = await mine.get(`${PATH}/${result.id}`);
      expect([reply.status, reply.json]).toEqual([200, result]);
      expect((await mine.get(`${PATH}/none`)).json).toMatchObject({
        statusCode: 404,
        message: 'There is no such check result',
      });
      expect((await mine.get(`${PATH}/%00`)).status).toBe(400);
    });

    it('refuses a page that is too large for memory', async () => {
      const { mine, store } = fixture();
      await bring({ slot: minutesAgo(1) });
      await store.query(
        `insert into check_results (account_id, check_id, id, result_type, slot, created_at,
           has_failures, has_errors, run_location, check_type, body)
         select account_id, check_id, 'large-' || n, result_type, slot, created_at, has_failures,
           has_errors, run_location, check_type, jsonb_build_object('text', repeat('é', 500000))
         from check_results, generate_series(1, 17) n where account_id = $1`,
        [mine.accountId],
      );
      const refused = await mine.get(`${PATH}?limit=100`);
      expect(refused.status).toBe(400);
      expect(problemsIn(refused)).toEqual([
        'query.limit must be smaller: these results have more than 16777216 bytes',
      ]);
      expect((await mine.get(`${PATH}?limit=10`)).json).toHaveLength(10);
    });

    it('is limited to 60 requests a minute for each key', async () => {
      const { mine, clientWith } = fixture();
      const other = await clientWith('read');
      const statuses = new Set<number>();
      for (let n = 0; n < 60; n += 1) statuses.add((await mine.get(PATH)).status);
      expect([...statuses]).toEqual([200]);
      const refused = await mine.get(PATH);
      expect([refused.status, Number(refused.headers['retry-after']) > 0]).toEqual([429, true]);
      expect((await other.get(PATH)).status).toBe(200);
      expect((await mine.get('/v1/check-statuses/shop')).status).toBe(200);
    });
  });
});
