import { beforeAll, describe, expect, it } from 'vitest';
import {
  CHECK_ALERT,
  CHECK_RESULT,
  CHECK_STATUS,
  HTTP_CHECK_RESULT,
} from '../../../support/contract/result-tables.ts';
import {
  ALERT_TYPES,
  CHECK_TYPES,
  LOCATIONS,
  RESULT_TYPES,
} from '../../../support/contract/vocabulary.ts';
import { resultOfRun } from '../../../support/service/results-fixture.ts';
import type { Client } from '../../../support/service/service-fixture.ts';
import {
  type ContractFixture,
  formed,
  formedList,
  otherThan,
  URL_CHECKS,
} from './contract-fixture.ts';

const HOUR_MS = 3_600_000;
const RESULTS = '/v1/check-results';
const STATUSES = '/v1/check-statuses';
const ALERTS = '/v1/check-alerts';

/** The pages of a list, with the smallest and largest limit; 4.4, 4.6 and 8. */
export const PAGES = {
  taken: ['limit=1', 'limit=100', 'page=1', 'page=2', 'limit=100&page=3'],
  refused: ['limit=0', 'limit=101', 'limit=-1', 'limit=1.5', 'limit=x', 'page=0', 'page=x'],
};

const seconds = (ms: number): number => Math.floor(ms / 1000);

/** 2.4 to 2.6, 4.4 to 4.6. */
export function resultsContract(fixture: () => ContractFixture): void {
  let client: Client;
  beforeAll(async () => {
    client = await fixture().newClient();
  });
  const resultsOf = async (check: string, query = '') =>
    (await client.get(`${RESULTS}/${check}?limit=100${query}`)).json;

  describe('check results', () => {
    it('of URL and API checks have the form of the specification', async () => {
      const all = formedList(
        HTTP_CHECK_RESULT,
        await client.get(`${RESULTS}/shop?resultType=ALL&limit=100`),
      );
      expect(all).toHaveLength(9);
      formedList(HTTP_CHECK_RESULT, await client.get(`${RESULTS}/api-check`));
    });

    it('of ICMP monitors have it too', async () => {
      expect(formedList(CHECK_RESULT, await client.get(`${RESULTS}/ping`))).toHaveLength(2);
    });

    it('of failures name their error groups, others have none', async () => {
      const results = await resultsOf('shop');
      for (const { hasFailures, errorGroupIds } of results) {
        expect(errorGroupIds).toHaveLength(hasFailures ? 1 : 0);
      }
      for (const { hasFailures } of await resultsOf('shop', '&hasFailures=true')) {
        expect(hasFailures).toBe(true);
      }
    });

    it('come in pages of 10 by default', async () => {
      const page = async (query: string): Promise<readonly { id: string }[]> =>
        (await client.get(`${RESULTS}/many${query}`)).json;
      const [first, second, both] = [
        await page(''),
        await page('?page=2'),
        await page('?limit=20'),
      ];
      expect([first.length, second.length]).toEqual([10, 2]);
      expect([...first, ...second]).toEqual(both);
    });

    it('are the FINAL ones by default', async () => {
      const types = async (query: string): Promise<string[]> =>
        (await resultsOf('shop', query)).map((one: { resultType: string }) => one.resultType);
      expect(await types('')).toEqual(Array(8).fill('FINAL'));
      expect(await types('&resultType=FINAL')).toHaveLength(8);
      expect(await types('&resultType=ATTEMPT')).toEqual(['ATTEMPT']);
      expect(await types('&resultType=ALL')).toHaveLength(9);
      expect((await client.get(`${RESULTS}/shop?resultType=final`)).status).toBe(400);
      expect(RESULT_TYPES).toHaveLength(3);
    });

    it('are of the 6 hours before now, or of the 6 hours after `from`', async () => {
      const { oldMs } = fixture();
      const from = seconds(oldMs - HOUR_MS);
      expect(await resultsOf('old')).toEqual([]);
      expect(await resultsOf('old', `&from=${from}`)).toHaveLength(1);
      expect(await resultsOf('old', `&from=${seconds(oldMs - 7 * HOUR_MS)}`)).toEqual([]);
      expect(await resultsOf('shop', `&from=${from}`)).toEqual([]);
      expect(await resultsOf('old', `&from=${from}&to=${seconds(oldMs)}`)).toHaveLength(1);
    });

    it('include `from` and exclude `to`', async () => {
      const { deliver, mine, clock } = fixture();
      const body = {
        name: 'edge',
        request: { url: 'https://shop.test/' },
        privateLocations: ['berlin'],
      };
      await mine.put(`${URL_CHECKS}/edge`, body);
      const slot = clock.wallMs() - HOUR_MS;
      const at = new Date(slot).toISOString();
      const times = { startedAt: at, stoppedAt: at, created_at: at };
      await deliver(resultOfRun({ slot, checkId: 'edge', ...times }));
      const second = seconds(slot);
      expect(await resultsOf('edge', `&from=${second}&to=${second + 1}`)).toHaveLength(1);
      expect(await resultsOf('edge', `&from=${second - 1}&to=${second}`)).toEqual([]);
    });

    it('can be filtered by each location and each type of check, and by no other', async () => {
      const own = await fixture().newClient();
      const asked = (query: string): string => `${RESULTS}/shop?${query}`;
      const taken = [
        ...LOCATIONS.map((location) => `location=${location}`),
        ...CHECK_TYPES.map((type) => `checkType=${type}`),
        'hasFailures=false',
        ...PAGES.taken,
      ];
      expect(await otherThan(200, own, taken.map(asked))).toEqual([]);
      const refused = [
        'checkType=NONE',
        'hasFailures=maybe',
        'from=today',
        'to=x',
        ...PAGES.refused,
      ];
      expect(await otherThan(400, own, refused.map(asked))).toEqual([]);
      expect(await resultsOf('shop', '&checkType=API')).toEqual([]);
      expect(await resultsOf('shop', '&checkType=URL')).toHaveLength(8);
      expect(await resultsOf('shop', '&location=us-east-1')).toEqual([]);
    });
  });

  describe('check statuses', () => {
    it.each(['shop', 'api-check', 'ping', 'old'])(
      'of %s have the form of the table',
      async (id) => {
        const status = formed(CHECK_STATUS, await client.get(`${STATUSES}/${id}`));
        expect(status).toMatchObject({ checkId: id, hasFailures: id === 'old' });
      },
    );

    it('are null if nothing has run', async () => {
      const { mine } = fixture();
      const body = { request: { url: 'https://shop.test/' }, locations: ['eu-west-1'] };
      await mine.put(`${URL_CHECKS}/new`, { name: 'new', ...body });
      const reply = await client.get(`${STATUSES}/new`);
      expect([reply.status, reply.text]).toEqual([200, 'null']);
    });
  });

  describe('check alerts', () => {
    it('have the form of the table, 10 of them, those of the last 6 hours', async () => {
      const alerts = formedList(CHECK_ALERT, await client.get(`${ALERTS}?limit=100`));
      const told = new Set(alerts.map((one: { alertType: string }) => one.alertType));
      expect(ALERT_TYPES).toEqual(expect.arrayContaining([...told]));
      expect([...told]).toEqual(
        expect.arrayContaining(['ALERT_FAILURE', 'ALERT_RECOVERY', 'ALERT_DEGRADED']),
      );
      expect(alerts.map((one: { checkId: string }) => one.checkId)).not.toContain('old');
      expect(alerts).toContainEqual(
        expect.objectContaining({
          checkId: 'api-check',
          checkType: 'API',
          alertType: 'ALERT_FAILURE',
          error: expect.any(String),
          statusCode: '503',
        }),
      );
      expect(formedList(CHECK_ALERT, await client.get(ALERTS))).toEqual(alerts.slice(0, 10));
      expect(alerts.length).toBeGreaterThan(10);
    });

    it('of the 6 hours after `from` where that is given', async () => {
      const { oldMs } = fixture();
      const from = seconds(oldMs - HOUR_MS);
      const old = formedList(CHECK_ALERT, await client.get(`${ALERTS}?from=${from}`));
      expect(old.map((one: { checkId: string }) => one.checkId)).toEqual(['old']);
      expect((await client.get(`${ALERTS}?from=${from}&to=${from + 1}`)).json).toEqual([]);
    });

    it('are listed in pages of 1 to 100', async () => {
      const asked = (query: string): string => `${ALERTS}?${query}`;
      expect(await otherThan(200, client, PAGES.taken.map(asked))).toEqual([]);
      const refused = [...PAGES.refused, 'from=x', 'to=x'];
      expect(await otherThan(400, client, refused.map(asked))).toEqual([]);
      expect((await client.get(`${ALERTS}?limit=1`)).json).toHaveLength(1);
    });
  });
}
