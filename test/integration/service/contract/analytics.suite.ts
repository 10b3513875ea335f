import { beforeEach, describe, expect, it } from 'vitest';
import { ANALYTICS_REPORT } from '../../../support/contract/result-tables.ts';
import { API_METRICS, ICMP_METRICS, QUICK_RANGES } from '../../../support/contract/vocabulary.ts';
import type { Client } from '../../../support/service/service-fixture.ts';
import { type ContractFixture, formed, otherThan } from './contract-fixture.ts';
import { PAGES } from './results.suite.ts';

const DAY_MS = 86_400_000;
const API = '/v1/analytics/api-checks/api-check';
const ICMP = '/v1/analytics/icmp/ping';

/** The start of each `quickRange`, and its end if that is in the past. */
function rangesAt(nowMs: number): Readonly<Record<string, readonly [number, number | null]>> {
  const now = new Date(nowMs);
  const midnight = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate());
  const monday = midnight - ((now.getUTCDay() + 6) % 7) * DAY_MS;
  const month = Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
  return {
    last24Hours: [nowMs - DAY_MS, null],
    last7Days: [nowMs - 7 * DAY_MS, null],
    last30Days: [nowMs - 30 * DAY_MS, null],
    thisWeek: [monday, null],
    thisMonth: [month, null],
    lastWeek: [monday - 7 * DAY_MS, monday],
    lastMonth: [Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1), month],
  };
}

/** 2.7, 4.2, 4.3. */
export function analyticsContract(fixture: () => ContractFixture): void {
  describe.each([
    ['API checks', API, API_METRICS, ['runLocation', 'statusCode']],
    ['ICMP monitors', ICMP, ICMP_METRICS, ['runLocation']],
  ] as const)('analytics of %s', (_type, path, { plain, suffixed }, groups) => {
    const first = plain[0] ?? '';
    const asked = (query: string): string => `${path}?metrics=${first}&${query}`;
    let client: Client;
    beforeEach(async () => {
      client = await fixture().newClient();
    });
    const report = async (query: string) =>
      formed(ANALYTICS_REPORT, await client.get(`${path}?${query}`));

    it('know every metric, plain and suffixed', async () => {
      for (const names of [plain, suffixed]) {
        const { metadata, series } = await report(`metrics=${names.join(',')}`);
        expect(new Set(Object.keys(metadata))).toEqual(new Set(names));
        expect(series).toHaveLength(1);
        for (const point of series[0].data) {
          expect(new Set(Object.keys(point))).toEqual(new Set([...names, 'time']));
        }
      }
      const { metadata } = await report(`metrics=${first}_avg&metrics=${first}_p99`);
      expect(metadata).toMatchObject({
        [`${first}_avg`]: { aggregation: 'avg' },
        [`${first}_p99`]: { aggregation: 'p99' },
      });
    });

    it('require an existing metric', async () => {
      const paths = ['', 'metrics=', 'metrics=mood', `metrics=${first}_p98`, 'metrics=retries_avg'];
      const refused = paths.map((query) => `${path}?${query}`);
      expect(await otherThan(400, client, refused)).toEqual([]);
      const foreign = path === API ? 'packetLoss' : 'firstByte';
      expect(await otherThan(400, client, [`${path}?metrics=${foreign}`])).toEqual([]);
    });

    it('are of the last day in pages of 10 by default', async () => {
      const { clock } = fixture();
      const { from, to, pagination } = await report(`metrics=${first}`);
      expect(pagination).toEqual({ page: 1, limit: 10 });
      expect([from, to].map((at) => Date.parse(at))).toEqual([
        clock.wallMs() - DAY_MS,
        clock.wallMs(),
      ]);
    });

    it('come in pages of the requested size', async () => {
      const one = await report(`metrics=${first}&limit=1`);
      expect([one.pagination, one.series.length]).toEqual([{ page: 1, limit: 1 }, 1]);
      const next = await report(`metrics=${first}&limit=1&page=2`);
      expect([next.pagination, next.series.length]).toEqual([{ page: 2, limit: 1 }, 0]);
    });

    it('know every quick range', async () => {
      const ranges = rangesAt(fixture().clock.wallMs());
      expect(Object.keys(ranges)).toEqual(QUICK_RANGES);
      for (const [quickRange, [fromMs, toMs]] of Object.entries(ranges)) {
        const { from, to } = await report(`metrics=${first}&quickRange=${quickRange}`);
        expect([quickRange, Date.parse(from)]).toEqual([quickRange, fromMs]);
        if (toMs !== null) expect([quickRange, Date.parse(to)]).toEqual([quickRange, toMs]);
      }
      expect(await otherThan(400, client, [asked('quickRange=last25Hours')])).toEqual([]);
    });

    it('take `from` and `to` over the quick range', async () => {
      const fromMs = fixture().oldMs;
      const toMs = fromMs + 3_600_000;
      const window = `from=${fromMs / 1000}&to=${toMs / 1000}&quickRange=lastMonth`;
      const { from, to } = await report(`metrics=${first}&${window}`);
      expect([Date.parse(from), Date.parse(to)]).toEqual([fromMs, toMs]);
      const begun = await report(`metrics=${first}&from=${fromMs / 1000}`);
      expect(Date.parse(begun.from)).toBe(fromMs);
    });

    it('are aggregated, paged, filtered and grouped within the limits', async () => {
      const taken = [
        ...[1, 60, 43_200].map((minutes) => `aggregationInterval=${minutes}`),
        ...groups.map((group) => `groupBy=${group}`),
        ...['success', 'failure', 'success,failure', 'success&filterByStatus=failure'].map(
          (one) => `filterByStatus=${one}`,
        ),
        ...PAGES.taken,
      ];
      expect(await otherThan(200, client, taken.map(asked))).toEqual([]);
      const other = path === API ? 'groupBy=name' : 'groupBy=statusCode';
      const refused = [
        ...[0, 43_201, -1, 'x'].map((minutes) => `aggregationInterval=${minutes}`),
        other,
        'filterByStatus=degraded',
        'from=x',
        ...PAGES.refused,
      ];
      client = await fixture().newClient();
      expect(await otherThan(400, client, refused.map(asked))).toEqual([]);
    });

    it('name what they are grouped by', async () => {
      for (const group of groups) {
        const { series } = await report(`metrics=${first}_avg&groupBy=${group}`);
        expect(series.length).toBeGreaterThan(0);
        for (const one of series) expect(one).toHaveProperty(group);
      }
    });
  });
}
