import { describe, expect, it, onTestFinished } from 'vitest';
import { startToleranceMs } from '../../../src/agent/slots/start-tolerance.ts';
import { slotFaults } from '../../support/agent/slot-verdict.ts';
import { newDatabase } from '../../support/database/new-database.ts';
import { databasesToTest } from '../../support/nightly.ts';
import { makeTestFolder } from '../../support/process/test-folder.ts';
import { REAL_TIME } from '../../support/real-time.ts';
import {
  addVisitors,
  CountingTarget,
  PERIOD_SECONDS,
  slotVisits,
} from '../../support/servers/counting-target.ts';
import { listenTcp } from '../../support/servers/tcp-servers.ts';
import {
  type RunningAgent,
  readDatabase,
  slotRecords,
  startAgent,
  startService,
  until,
} from '../../support/service/deployment.ts';
import { askService } from '../../support/service/service-app.ts';

const CHECKS = 60;
/** Real time: some slots of each check. */
const AWAY_MS = 20_000;
/** Runs in progress at the agent's kill, and results not yet on disk, are lost. */
const FUZZ_MS = 1_000;
/**
 * Each agent runs for this time, which includes slots of some checks even without FUZZ_MS at both
 * ends.
 */
const STRETCH_MS = 5 * FUZZ_MS;
/** Two simultaneous runs may be reported in the other order within this time. */
const ORDER_FUZZ_MS = 1_000;
const MAX_LATE_MS = startToleranceMs(PERIOD_SECONDS * 1000) + 500;

describe.each(databasesToTest('postgres'))('while a service on %s is away', (kind) => {
  it('a restarted agent runs its last assignments, and all results arrive in order with their own times', async () => {
    const target = new CountingTarget();
    const server = await listenTcp((socket) => target.serve(socket, 'agent'));
    onTestFinished(() => server.close());
    const where = await newDatabase(kind);
    const service = await startService(where);
    const { key, slug } = await service.addLocation('cellar');
    const ids = await addVisitors(service, { count: CHECKS, slug, port: server.port });

    const options = {
      serviceUrl: service.url,
      key,
      dataDir: makeTestFolder(),
      // An agent short of CPU skips runs.
      prefix: REAL_TIME,
    };
    let agent = await startAgent(options);
    await ready(agent);
    const readyMs = Date.now();
    await target.more(CHECKS / 4);

    await service.kill('SIGKILL');
    const awayMs = Date.now();
    const restarts: { readonly fromMs: number; readonly toMs: number }[] = [];
    let upMs = awayMs;
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      await target.after(upMs + STRETCH_MS);
      const fromMs = Date.now();
      expect(await agent.kill(signal)).toBe(signal === 'SIGTERM' ? 0 : null);
      agent = await startAgent(options);
      await ready(agent);
      upMs = Date.now();
      restarts.push({ fromMs: fromMs - FUZZ_MS, toMs: upMs + FUZZ_MS });
      expect((await agent.health()).json).toMatchObject({ checks: CHECKS, lastContact: null });
    }
    await target.after(Math.max(awayMs + AWAY_MS, upMs + STRETCH_MS));
    const { json: alone } = await agent.health();
    expect(alone).toMatchObject({ state: 'running', lastContact: null });
    const backMs = Date.now();

    const again = await startService({ ...where, port: service.port, apiKey: service.apiKey });
    await until(
      async () => (await agent.health()).json,
      ({ lastContact, spoolOldestSeconds }) => lastContact !== null && spoolOldestSeconds < 2,
    );
    await target.more(CHECKS / 6);
    const upToMs = Date.now() - FUZZ_MS;
    expect(await agent.kill('SIGTERM')).toBe(0);
    expect(await again.kill('SIGTERM')).toBe(0);

    const records = await slotRecords(where);
    const afterMs = new Map([...ids.values()].map((id) => [id, readyMs]));
    expect(slotFaults(records, { afterMs, upToMs, periodSeconds: PERIOD_SECONDS })).toEqual({
      unanswered: [],
      double: [],
      unplanned: [],
    });
    // Only slots without a process are missed.
    const missed = records.filter(({ kind }) => kind === 'missed').map(({ slotMs }) => slotMs);
    const isExcused = (slotMs: number): boolean =>
      slotMs <= readyMs ||
      slotMs > upToMs ||
      restarts.some(({ fromMs, toMs }) => slotMs >= fromMs && slotMs <= toMs);
    expect(missed.filter((slotMs) => !isExcused(slotMs))).toEqual([]);

    const arrived = await arrivals(where);
    const visited = new Set(slotVisits(target.visits, ids).map(nameOf));
    expect(arrived.filter((final) => !visited.has(nameOf(final)))).toEqual([]);
    expect(
      arrived.filter(({ slotMs, startedMs, createdMs }) => {
        const isNear = startedMs >= slotMs && startedMs <= slotMs + MAX_LATE_MS;
        return !isNear || createdMs < startedMs;
      }),
    ).toEqual([]);
    expect(outOfOrder(arrived)).toEqual([]);
    // From the agent that lost its service, and from both later ones.
    const starts = [awayMs, ...restarts.map(({ toMs }) => toMs)];
    const ends = [...restarts.map(({ fromMs }) => fromMs), backMs];
    const ofThen = starts.map((fromMs, nth) => {
      const toMs = ends[nth] ?? 0;
      return arrived.filter(({ slotMs }) => slotMs > fromMs && slotMs < toMs).length;
    });
    expect(ofThen.filter((count) => count === 0)).toEqual([]);
  });
});

async function ready(agent: RunningAgent): Promise<void> {
  await until(
    () => askService(agent.healthPort, '/-/readiness', { key: null }),
    ({ status }) => status === 200,
  );
}

/** A FINAL. All times are epoch milliseconds. */
interface Arrival {
  readonly checkId: string;
  readonly slotMs: number;
  readonly startedMs: number;
  readonly createdMs: number;
}

/**
 * In the order of the service's transactions. Within one there is no order: a batch that was rolled
 * back leaves space in the table, which later rows fill.
 */
async function arrivals(where: Parameters<typeof readDatabase>[0]): Promise<readonly Arrival[]> {
  const rows = await readDatabase(
    where,
    `select check_id, slot, started_at, created_at from check_results
     where result_type = 'FINAL'
     order by xmin::text::bigint, created_at, slot`,
  );
  const msOf = (value: unknown): number => (value as Date).getTime();
  return rows.map((row) => ({
    checkId: String(row.checkId),
    slotMs: msOf(row.slot),
    startedMs: msOf(row.startedAt),
    createdMs: msOf(row.createdAt),
  }));
}

function nameOf({ checkId, slotMs }: Pick<Arrival, 'checkId' | 'slotMs'>): string {
  return `${checkId} ${slotMs}`;
}

/** Results stored after a later one: of their own check, or of any. */
function outOfOrder(arrived: readonly Arrival[]): readonly Arrival[] {
  const last = new Map<string, number>();
  let latestMs = 0;
  return arrived.filter(({ checkId, slotMs, createdMs }) => {
    const isLate = slotMs <= (last.get(checkId) ?? 0) || createdMs < latestMs - ORDER_FUZZ_MS;
    last.set(checkId, slotMs);
    latestMs = Math.max(latestMs, createdMs);
    return isLate;
  });
}
