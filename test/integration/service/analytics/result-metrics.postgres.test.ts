import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { CheckResult } from '../../../../src/model/result/result.ts';
import { saveRunMetrics } from '../../../../src/service/analytics/save-run-metrics.ts';
import { MIGRATIONS_FOLDER, migrate } from '../../../../src/service/database/migrate.ts';
import { insertResults } from '../../../../src/service/results/intake/store-results.sql.ts';
import { createResultPartitions } from '../../../../src/service/results/partitions.sql.ts';
import {
  databases,
  emptySchema,
  silentLog,
  useEmptyStore,
} from '../../../support/database/databases.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { makeTempFolder } from '../../../support/process/temp-folder.ts';
import { HTTP_DETAIL, HTTP_RESPONSE } from '../../../support/samples/http-results.ts';
import { wireResult } from '../../../support/samples/wire-results.ts';

const DAY_MS = 86_400_000;
const NOON = Date.UTC(2026, 2, 10, 12);
const COMMON = {
  assertions: [],
  requestError: null,
  requestErrorCode: null,
  jobLog: [],
  jobAssets: [],
  pcapDataUrl: null,
  traceroute: null,
};
const PHASES = { ...HTTP_RESPONSE.timingPhases, wait: 0.25, tls: 3, firstByte: 12.125 };

/** One result of each kind of detail, and results without figures. */
const RESULTS: readonly CheckResult[] = [
  { apiCheckResult: { ...HTTP_DETAIL, response: { ...HTTP_RESPONSE, timingPhases: PHASES } } },
  { hasFailures: true, apiCheckResult: { ...HTTP_DETAIL, response: null, timingPhases: PHASES } },
  { checkType: 'API' as const, isDegraded: true, attempts: 2 },
  { hasErrors: true },
  { isCancelled: true, hasFailures: true },
  { resultType: 'ATTEMPT' as const },
  {
    checkType: 'TCP' as const,
    tcpCheckResult: {
      ...COMMON,
      request: { hostname: 'h', port: 22, data: null, ipFamily: 'IPv4' as const },
      response: null,
      timings: { lookup: 1, connect: 3, response: null, end: 6 },
      timingPhases: { dns: 1, connection: 2, data: 3, total: 6 },
    },
  },
  { checkType: 'DNS' as const },
  {
    checkType: 'ICMP' as const,
    icmpCheckResult: {
      ...COMMON,
      request: { hostname: 'h', pingCount: 1, ipFamily: 'IPv4' as const },
      response: {
        hostname: 'h',
        resolvedIp: '192.0.2.1',
        ipFamily: 'IPv4' as const,
        pingCount: 1,
        packetsSent: 1,
        packetsReceived: 0,
        packetLoss: 100,
        dnsResolutionTime: 0,
        latency: { avg: null, min: null, max: null, stdDev: null },
        pingResults: [],
      },
      timings: { lookup: 0, end: 9 },
      timingPhases: { dns: 0, total: 9 },
    },
  },
].map((fields, number) =>
  wireResult(`run-${number}`, { checkRunId: NOON - number * DAY_MS, ...fields }),
);

/** The storage of the metrics of results, and its retention. */
describe.each(databases)('on %s', (kind) => {
  describe('the metrics of results', () => {
    const store = useEmptyStore(kind);
    const temp = makeTempFolder();
    afterAll(() => temp.remove());

    const partitions = (clock: FakeClock) =>
      createResultPartitions({ store: store(), clock, log: silentLog(), retentionDays: 20 });
    const rows = async () => {
      // Its keys exceed the range of a JavaScript number.
      const found = await store().query<{ row: Record<string, unknown> }>(
        `select to_jsonb(m) || jsonb_build_object('run_key', run_key::text) as row
         from result_metrics m order by slot, run_key`,
      );
      return found.map(({ row }) => row);
    };
    const partitionsOf = async (table: string): Promise<readonly unknown[]> => {
      const found = await store().query(
        `select right(inhrelid::regclass::text, 4) as day from pg_inherits
         where inhparent = $1::regclass order by 1`,
        [table],
      );
      return found.map(({ day }) => day);
    };

    it('are saved of results from before the migration, as of new ones', async () => {
      await emptySchema(store());
      const before = temp.file('before');
      for (const name of readdirSync(MIGRATIONS_FOLDER).filter((file) => file < '0003')) {
        cpSync(join(MIGRATIONS_FOLDER, name), join(before, name));
      }
      await migrate(store(), silentLog(), { folder: before });
      const { ensure } = partitions(new FakeClock(NOON));
      await ensure(RESULTS.map(({ checkRunId }) => checkRunId));
      await insertResults(store(), { accountId: 'mine', results: RESULTS });
      await migrate(store(), silentLog());
      expect(await partitionsOf('result_metrics')).toEqual(await partitionsOf('check_results'));
      const made = await rows();
      expect(made).toHaveLength(6);
      await store().query('delete from result_metrics');
      const finals = RESULTS.filter(({ resultType }) => resultType === 'FINAL');
      const batch = {
        accountId: 'mine',
        location: 'local',
        finals,
        current: new Set<CheckResult>(),
        atMs: NOON,
      };
      await store().transaction((tx) => saveRunMetrics(tx, batch));
      // It was not stored before.
      const saved = (await rows()).map((row) => ({ ...row, degraded: null }));
      expect(saved).toEqual(made);
      expect(made.at(-1)).toMatchObject({
        slot: '2026-03-10T12:00:00+00:00',
        run_location: 'local',
        passed: true,
        status_code: 200,
        retries: 0,
        response_time: 1500,
        wait: 0.25,
        first_byte: 12.125,
        packet_loss: null,
      });
    });

    it('are deleted with the results of their day', async () => {
      await emptySchema(store());
      await migrate(store(), silentLog());
      const clock = new FakeClock(NOON);
      const { makeAndDrop, ensure } = partitions(clock);
      await ensure([NOON - 20 * DAY_MS, NOON - 19 * DAY_MS]);
      const days = ['0218', '0219', '0309', '0310', '0311', '0312', '0313'];
      expect(await makeAndDrop()).toEqual({ made: 5, dropped: [] });
      for (const table of ['check_results', 'result_metrics']) {
        expect([table, await partitionsOf(table)]).toEqual([table, days]);
      }
      clock.stepWall(DAY_MS);
      expect((await makeAndDrop()).dropped).toEqual(['check_results_20260218']);
      for (const table of ['check_results', 'result_metrics']) {
        expect([table, (await partitionsOf(table))[0]]).toEqual([table, '0219']);
      }
    });
  });
});
