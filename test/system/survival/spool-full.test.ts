import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { CheckResult } from '../../../src/model/result/result.ts';
import { metricsOf } from '../../support/agent/agent-metrics.ts';
import { mountSmallDisk } from '../../support/agent/small-disk.ts';
import { newDatabase } from '../../support/database/new-database.ts';
import { databasesToTest } from '../../support/nightly.ts';
import { lacking } from '../../support/process/system-needs.ts';
import { makeTestFolder } from '../../support/process/test-folder.ts';
import { listening } from '../../support/servers/tcp-servers.ts';
import {
  type RunningAgent,
  type RunningService,
  readDatabase,
  startAgent,
  startService,
  until,
} from '../../support/service/deployment.ts';
import { askService } from '../../support/service/service-app.ts';

/** Six results a second fill the memory within half a minute, and a busy machine can still write and send them. */
const CHECKS = 60;
/**
 * Each assertion repeats the body in the result: half a MiB; memory has space for 64 MiB of them.
 */
const ASSERTIONS = 50;
const LONG = 'All is well. '.repeat(800).slice(0, 10_000);
const SHORT = 'All is well.';
/** Room for what is written before the disk is filled, also on a busy machine, and for what waits in memory. */
const DISK_MIB = 256;
/** Results made before the disk is full, while the service is away. */
const EARLY = 10;
const LOST = 10;
const DROPPED = 'vedette_spool_dropped_total';
const OF_POLLS = /^(cannot poll the service|the service answers polls again)/;
const missing = lacking({ commands: ['mount', 'umount'], files: [] });

describe.skipIf(missing !== null).each(databasesToTest('pglite'))(
  `an agent of a service on %s${missing === null ? '' : ` (lacks ${missing})`}`,
  (kind) => {
    it('an agent whose disk is full runs on, counts and logs once what it loses, and recovers', async () => {
      const where = await newDatabase(kind);
      const service = await startService(where);
      const { key, slug } = await service.addLocation('cellar');
      const target = await addChecks(service, slug);
      const disk = mountSmallDisk(DISK_MIB);
      const stdoutFile = join(makeTestFolder(), 'printed.ndjson');
      const dataDir = join(disk.path, 'data');
      const agent = await startAgent({ serviceUrl: service.url, key, dataDir, stdoutFile });
      const metric = (series: string) => async () => (await metricsOf(agent))(series);
      await until(metric('vedette_uploaded_total'), (count) => count > 0);
      const readiness = watchReadiness(agent);

      await service.kill('SIGKILL');
      const before = printed(stdoutFile).length;
      const written = await until(
        async () => writtenOf(printed(stdoutFile).slice(before), dataDir),
        (results) => results.length >= 3 * EARLY,
      );
      disk.fill();
      // The last ones may belong to an unfinished write.
      const early = written.slice(0, -EARLY);
      const lost = metric(`${DROPPED}{kind="result",reason="memory"}`);
      await until(lost, (count) => count >= LOST);
      expect(await agent.health()).toMatchObject({
        status: 200,
        json: { state: 'running', checks: CHECKS },
      });

      const late = printed(stdoutFile).slice(-EARLY);
      // Enough records are left to be sent.
      target.body = SHORT;
      disk.empty();
      const waiting = await metric('vedette_spool_records')();
      const again = await startService({ ...where, port: service.port, apiKey: service.apiKey });
      await agent.logged(/the spool is written to disk again/);
      await until(metric('vedette_spool_records'), (count) => count < waiting / 4);
      const after = await metricsOf(agent);
      // A slow disk on a busy machine loses some before it is full, and afterwards.
      const dropped = after(`${DROPPED}{kind="result",reason="memory"}`);
      expect(readiness.stop().filter((status) => status !== 200)).toEqual([]);
      expect(await agent.kill('SIGTERM')).toBe(0);
      expect(await again.kill('SIGTERM')).toBe(0);

      const all = printed(stdoutFile);
      const rows = await readDatabase(where, 'select id from check_results');
      const arrived = new Set(rows.map(({ id }) => id));
      const gone = all.filter(({ id }) => !arrived.has(id));
      // Each result has arrived, or was counted.
      expect(gone).toHaveLength(dropped);
      expect(arrived.size).toBe(all.length - dropped);
      // Records on disk are retained, and in memory the oldest are dropped first.
      expect([...early, ...late].filter(({ id }) => !arrived.has(id))).toEqual([]);
      expect(all.filter(({ hasFailures }) => hasFailures)).toEqual([]);
      expect(after(`${DROPPED}{kind="result",reason="space"}`)).toBe(0);
      expect(after('vedette_missed_slots_total{reason="agent_busy"}')).toBe(0);

      const log = agent
        .log()
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(log.filter(({ level }) => level === 'error')).toEqual([
        expect.objectContaining({
          code: 'ENOSPC',
          msg: expect.stringContaining('cannot be written'),
        }),
      ]);
      const recovered = log.filter(({ msg }) => msg === 'the spool is written to disk again');
      expect(recovered).toHaveLength(1);
      expect(recovered[0].dropped).toBeGreaterThan(0);
      expect(recovered[0].dropped).toBeLessThanOrEqual(dropped);
      // A service on a busy machine leaves polls without an answer more than once, and each time is logged.
      const warnings = log
        .filter(({ level, msg }) => level === 'warn' && !OF_POLLS.test(msg))
        .map(({ msg }) => msg);
      expect(warnings).toEqual([...new Set(warnings)]);
    });
  },
);

/** Each passes. Its results are as long as the target's current body. */
async function addChecks(service: RunningService, slug: string): Promise<{ body: string }> {
  const target = { body: LONG };
  const server = await listening(createServer((_request, response) => response.end(target.body)));
  onTestFinished(() => server.close());
  const assertion = { source: 'TEXT_BODY', comparison: 'CONTAINS', target: 'well' };
  const request = {
    method: 'GET',
    url: `http://127.0.0.1:${server.port}/`,
    assertions: Array.from({ length: ASSERTIONS }, () => assertion),
  };
  const plan = { frequency: 0, frequencyOffset: 10, privateLocations: [slug] };
  for (let number = 0; number < CHECKS; number += 1) {
    await service.addCheck('api', { ...plan, name: `check ${number}`, request });
  }
  return target;
}

/** All results that an agent has printed so far, without an incomplete last line. */
function printed(file: string): readonly CheckResult[] {
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line)).filter(({ resultType }) => resultType !== undefined);
}

/** The results whose text is in the spool's files, completely or partly. */
function writtenOf(results: readonly CheckResult[], dataDir: string): readonly CheckResult[] {
  const folder = join(dataDir, 'spool');
  const segments = readdirSync(folder).filter((name) => name.endsWith('.seg'));
  const contents = segments.map((name) => readFileSync(join(folder, name)));
  return results.filter(({ id }) => contents.some((bytes) => bytes.includes(id)));
}

/** Polls until it is stopped, and then returns all statuses. */
function watchReadiness({ healthPort }: RunningAgent): { stop(): readonly number[] } {
  const statuses: number[] = [];
  let isStopped = false;
  const ask = async (): Promise<number> => {
    const { status } = await askService(healthPort, '/-/readiness', { key: null });
    if (!isStopped) statuses.push(status);
    return status;
  };
  const watching = until(ask, () => isStopped).catch(() => {
    // No answer counts as a status other than 200.
    if (!isStopped) statuses.push(0);
  });
  onTestFinished(async () => {
    isStopped = true;
    await watching;
  });
  return {
    stop() {
      isStopped = true;
      if (statuses.length === 0) throw new Error('readiness was never asked');
      return statuses;
    },
  };
}
