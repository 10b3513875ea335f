import { describe, expect, it } from 'vitest';
import {
  type AgentLife,
  errorsIn,
  liveAgain,
  type PrintedFinal,
} from '../../support/agent/doomed-agent.ts';
import { slotFaults } from '../../support/agent/slot-verdict.ts';
import type { DatabaseKind } from '../../support/database/databases.ts';
import { newDatabase } from '../../support/database/new-database.ts';
import { databasesToTest, IS_NIGHTLY } from '../../support/nightly.ts';
import { makeTestFolder } from '../../support/process/test-folder.ts';
import { mixedChecks, PERIOD_SECONDS } from '../../support/samples/mixed-checks.ts';
import {
  readDatabase,
  slotRecords,
  startService,
  until,
} from '../../support/service/deployment.ts';

const CHECKS = 100;
/** Assigned while the agent runs, shortly before a kill, so that they may not be on disk. */
const LATER_CHECKS = 3;

/** Set KILL_SEED to kill at the same moments again. */
const seed = Number(process.env.KILL_SEED ?? Date.now() % 1_000_000);
console.info(`kills at random moments: KILL_SEED=${seed}`);

// Killed embedded databases are a subject of pglite-folder.test.ts; here they take more CPU.
describe.each(databasesToTest('postgres'))('on %s', (kind) => {
  it('an agent that is killed again and again accounts for every slot once', async () => {
    await survive(kind, { kills: IS_NIGHTLY ? 25 : 6, serviceFails: false });
  });

  it('an agent accounts for every slot once while agent and service are both killed', async () => {
    await survive(kind, { kills: IS_NIGHTLY ? 8 : 5, serviceFails: true });
  });
});

interface Fate {
  readonly kills: number;
  readonly serviceFails: boolean;
}

async function survive(kind: DatabaseKind, { kills, serviceFails }: Fate): Promise<void> {
  const random = randomFrom(seed);
  const where = await newDatabase(kind);
  let service = await startService(where);
  const services = [service];
  const { id: locationId, key, slug } = await service.addLocation('cellar');
  const addChecksTo = await mixedChecks(slug);
  const options = { serviceUrl: service.url, key, dataDir: makeTestFolder() };
  const firstIds = await addChecksTo(service)(CHECKS);

  const serviceKiller = new AbortController();
  const serviceKills = serviceFails ? killService(serviceKiller.signal) : Promise.resolve();
  const lives: AgentLife[] = [];
  const done: PrintedFinal[] = [];
  for (let number = 0; number < kills; number += 1) {
    const life = await liveAgain(options, number);
    lives.push(life);
    await untilItsTimeHasCome(life, number);
    await life.kill('SIGKILL');
    done.push(...life.doneFinals());
  }
  serviceKiller.abort();
  await serviceKills;

  const last = await liveAgain(options, kills);
  await until(
    async () => (await last.health()).json,
    ({ state, spoolDepth }) => state === 'running' && spoolDepth === 0,
  );
  const upToMs = Date.now();
  expect(await last.kill('SIGTERM')).toBe(0);
  expect(await service.kill('SIGTERM')).toBe(0);

  const records = await slotRecords(where);
  const afterMs = await assignedAt();
  expect(slotFaults(records, { afterMs, upToMs, periodSeconds: PERIOD_SECONDS })).toEqual({
    unanswered: [],
    double: [],
    unplanned: [],
  });
  const stored = await readDatabase(
    where,
    `select id from check_results where result_type = 'FINAL'`,
  );
  const finals = new Set(stored.map(({ id }) => id));
  expect(done.filter(({ id }) => !finals.has(id))).toEqual([]);
  expect([...lives, last, ...services].flatMap(({ log }) => errorsIn(log()))).toEqual([]);

  // Without runs that were finished or interrupted before a kill, all of the above would prove
  // nothing.
  const counts = {
    finals: finals.size,
    missed: records.length - finals.size,
    done: done.length,
    serviceKills: services.length - 1,
  };
  console.info(`on ${kind}: ${JSON.stringify({ kills, ...counts })}`);
  expect(Math.min(counts.finals, counts.missed, counts.done)).toBeGreaterThan(0);
  expect(counts.serviceKills > 0).toBe(serviceFails);

  async function untilItsTimeHasCome(life: AgentLife, number: number): Promise<void> {
    if (number % 5 === 3) {
      // It has just started, and still recovers the files of the previous process.
      await pause(random() * 200);
      return;
    }
    await life.logged(RUNS);
    // The first one may not have its checks on disk yet, and every fifth has done nothing yet.
    if (number === 0) {
      await pause(random() * 300);
      return;
    }
    if (number % 5 !== 2) {
      await until(
        async () => life.doneFinals(),
        ({ length }) => length > 0,
      );
    }
    await pause(300 + random() * 700);
    if (number % 5 !== 1 || serviceFails) return;
    await addChecksTo(service)(LATER_CHECKS);
    await pause(random() * 500);
  }

  async function killService(signal: AbortSignal): Promise<void> {
    const randomService = randomFrom(seed + 1);
    for (;;) {
      // Agents wait longer and longer for a service that is away: mostly it lives until one has polled.
      if (randomService() < 0.7) await untilPolled(signal);
      await pause(randomService() * 3_000);
      if (signal.aborted) return;
      await service.kill('SIGKILL');
      service = await startService({ ...where, port: service.port, apiKey: service.apiKey });
      services.push(service);
    }
  }

  async function untilPolled(signal: AbortSignal): Promise<void> {
    const sinceMs = Date.now();
    await until(
      async () => (await service.ask(`/v1/private-location-statuses/${locationId}`)).json.lastSeen,
      (lastSeen) => signal.aborted || Date.parse(lastSeen) > sinceMs,
    );
  }

  /** Only the database knows when later checks were assigned. */
  async function assignedAt(): Promise<ReadonlyMap<string, number>> {
    const rows = await readDatabase(where, 'select check_id, answered_until from assignments');
    const times = rows.map(
      ({ checkId: id, answeredUntil: at }) => [String(id), (at as Date).getTime()] as const,
    );
    const [first] = RUNS.exec(lives[0]?.log() ?? '')?.slice(1) ?? [];
    return new Map([...times, ...firstIds.map((id) => [id, Date.parse(first ?? '')] as const)]);
  }
}

/** The checks are assigned, and their slots run from now on. */
const RUNS = /"time":"([^"]*)"[^\n]*"scheduled":[1-9][^\n]*checks loaded/;

/** The time between two kills is the subject of this test. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Numbers in [0, 1), the same for the same seed. */
function randomFrom(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
