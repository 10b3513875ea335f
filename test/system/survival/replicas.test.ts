import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { giveEverySlot } from '../../support/agent/assigned-slots.ts';
import { errorsIn } from '../../support/agent/doomed-agent.ts';
import { slotFaults } from '../../support/agent/slot-verdict.ts';
import { startPostgres, type TestPostgres } from '../../support/database/postgres.ts';
import { makeTestFolder } from '../../support/process/test-folder.ts';
import { startBalancer } from '../../support/servers/tcp-balancer.ts';
import { listenTcp } from '../../support/servers/tcp-servers.ts';
import {
  type ApiClients,
  answeredMore,
  startApiClients,
  type Trouble,
} from '../../support/service/api-clients.ts';
import {
  newApiKey,
  type RunningAgent,
  type RunningService,
  readDatabase,
  slotRecords,
  startAgent,
  startService,
  until,
  withDatabase,
} from '../../support/service/deployment.ts';

const CHECKS = 80;
const PERIOD_SECONDS = 10;
/** Slots due in the moment of the assignment, or of the stop, may count or not. */
const FUZZ_MS = 500;
/** Longer than a lease, so that the agents have none when the database is back. */
const OUTAGE_MS = 4_000;
/** It starts five processes and keeps all of them busy: half a minute alone, several beside other tests. */
const TIME_LIMIT_MS = 900_000;

let postgres: TestPostgres | null = null;
beforeAll(async () => {
  postgres = await startPostgres(undefined, { max_connections: '60' });
});
afterAll(() => postgres?.remove());

function server(): TestPostgres {
  if (postgres === null) throw new Error('there is no PostgreSQL');
  return postgres;
}

describe('two replicas that start at once on an empty database', () => {
  it('two replicas that start at once create the schema and the first account once, and both know its key', async () => {
    const databaseUrl = await server().createDatabase();
    const apiKey = newApiKey();
    const replicas = await Promise.all([
      startService({ databaseUrl, apiKey }),
      startService({ databaseUrl, apiKey }),
    ]);
    for (const replica of replicas) {
      expect((await replica.ask('/v1/checks')).status).toBe(200);
      expect((await replica.ask('/-/readiness')).status).toBe(200);
      expect(troublesIn(replica.log())).toEqual([]);
    }
    expect(await readDatabase({ databaseUrl }, 'select role from api_keys')).toEqual([
      { role: 'admin' },
    ]);
    expect(await readDatabase({ databaseUrl }, 'select 1 from accounts')).toHaveLength(1);
    const applied = replicas.flatMap(({ log }) => log().match(/applied \d+_\w+/g) ?? []);
    expect(applied.length).toBeGreaterThan(0);
    expect(new Set(applied).size).toBe(applied.length);
  });

  it('two replicas with different first keys admit one of them', async () => {
    const databaseUrl = await server().createDatabase();
    const replicas = await Promise.all([
      startService({ databaseUrl }),
      startService({ databaseUrl }),
    ]);
    const answers = async (asked: RunningService): Promise<readonly number[]> =>
      Promise.all(
        replicas.map(async ({ apiKey }) => (await asked.ask('/v1/checks', { key: apiKey })).status),
      );
    const [first, second] = replicas;
    const statuses = await answers(first);
    expect(statuses.toSorted()).toEqual([200, 401]);
    expect(await answers(second)).toEqual(statuses);
    expect(await readDatabase({ databaseUrl }, 'select 1 from accounts')).toHaveLength(1);
  });
});

describe('two replicas under load', { timeout: TIME_LIMIT_MS }, () => {
  it('two replicas under load lose nothing when one is killed and the database restarts', async () => {
    const databaseUrl = await server().createDatabase();
    const where = { databaseUrl };
    const apiKey = newApiKey();
    const first = await startService({ ...where, apiKey });
    const second = await startService({ ...where, apiKey });
    const balancer = await startBalancer([first.port, second.port]);
    const { checkIds, location, loadLocation, loadCheckId } = await setUp(first);
    // It has no agents that could get the check.
    const [account] = await readDatabase(where, 'select id from accounts');
    await withDatabase(where, (store) =>
      giveEverySlot(store, {
        accountId: String(account?.id),
        checkId: loadCheckId,
        slugs: [loadLocation.slug],
      }),
    );

    const agents: RunningAgent[] = [];
    for (let number = 0; number < 2; number += 1) {
      agents.push(
        await startAgent({
          serviceUrl: balancer.url,
          key: location.key,
          dataDir: makeTestFolder(),
        }),
      );
    }
    const clients = startApiClients({
      port: balancer.port,
      apiKey,
      locationKey: loadLocation.key,
      slug: loadLocation.slug,
      checkId: loadCheckId,
      writers: 4,
      reporters: 2,
    });
    await until(() => healthOf(agents), shareTheChecks);
    const afterMs = Date.now() + FUZZ_MS;
    await finalsAfter(databaseUrl, afterMs, agents.length * 10);
    expect(clients.troubles).toEqual([]);
    expect(new Set(balancer.given.keys())).toEqual(new Set([first.port, second.port]));

    // One of two.
    const killedAtMs = Date.now();
    await first.kill('SIGKILL');
    await answeredMore(clients, 100);
    await finalsAfter(databaseUrl, killedAtMs, 20);
    const afterKill = clients.troubles.length;
    // At least one request was cut, otherwise there was no load.
    expect(afterKill).toBeGreaterThan(0);
    const third = await startService({ ...where, apiKey, port: first.port });

    // The shared database.
    const replicas = [second, third];
    await server().stop('immediate');
    const gone = { fromMs: Date.now(), toMs: 0 };
    for (const replica of replicas) await until(() => readinessOf(replica), is(503));
    await new Promise((resolve) => setTimeout(resolve, OUTAGE_MS));
    gone.toMs = Date.now();
    await server().start();
    for (const replica of replicas) await until(() => readinessOf(replica), is(200));
    await answeredMore(clients, 100);
    await finalsAfter(databaseUrl, gone.toMs, 40);
    await until(
      () => healthOf(agents),
      (all) => shareTheChecks(all) && all.every(({ state }) => state === 'running'),
    );
    await clients.stop();

    const upToMs = Date.now() - FUZZ_MS;
    // Each uploads what it still has. While they run, hardly a moment finds nothing in both.
    for (const agent of agents) expect(await agent.kill('SIGTERM')).toBe(0);
    for (const replica of replicas) expect(await replica.kill('SIGTERM')).toBe(0);

    const records = await slotRecords(where);
    const ofLoad = records.filter(({ checkId }) => checkId === loadCheckId);
    const ofAgents = records.filter(({ checkId }) => checkId !== loadCheckId);
    expect(
      slotFaults(ofAgents, { checkIds, periodSeconds: PERIOD_SECONDS, afterMs, upToMs }),
    ).toEqual({ unanswered: [], double: [], unplanned: [] });
    // The agents continued with their assignments, and uploaded the results afterwards.
    const meanwhile = ofAgents.filter(
      ({ kind, slotMs }) => kind === 'FINAL' && slotMs > gone.fromMs && slotMs < gone.toMs,
    );
    expect(meanwhile.length).toBeGreaterThan(10);
    expect(ofLoad.length).toBeGreaterThan(0);
    expect(await brokenPromises(databaseUrl, clients)).toEqual([]);
    const troubles = clients.troubles.slice(afterKill);
    expect(clients.troubles.filter((each) => !isFair(each))).toEqual([]);
    expect(troubles.some(({ kind }) => kind === 'answer')).toBe(true);
    expect([first, ...replicas, ...agents].flatMap(({ log }) => troublesIn(log()))).toEqual([]);
  });
});

/** Checks that agents run, and one of a location without agents, for results from elsewhere. */
async function setUp(service: RunningService) {
  const target = await listenTcp((socket) => socket.end());
  onTestFinished(() => target.close());
  const location = await service.addLocation('cellar');
  const loadLocation = await service.addLocation('attic');
  const request = { hostname: '127.0.0.1', port: target.port };
  const every = { frequency: 0, frequencyOffset: PERIOD_SECONDS };
  const checkIds: string[] = [];
  for (let number = 0; number < CHECKS; number += 1) {
    const body = { ...every, name: `check ${number}`, privateLocations: ['cellar'], request };
    checkIds.push(await service.addCheck('tcp', body));
  }
  const loadCheckId = await service.addCheck('url', {
    name: 'of the load',
    privateLocations: ['attic'],
    request: { url: 'http://a.test/' },
  });
  return { checkIds, location, loadLocation, loadCheckId };
}

interface Health {
  readonly state: string;
  readonly checks: number;
}

async function healthOf(agents: readonly RunningAgent[]): Promise<readonly Health[]> {
  return Promise.all(agents.map(async (agent) => (await agent.health()).json));
}

function shareTheChecks(all: readonly Health[]): boolean {
  const counts = all.map(({ checks }) => checks);
  return counts.every((count) => count > 0) && counts.reduce((a, b) => a + b, 0) === CHECKS;
}

async function readinessOf(service: RunningService): Promise<number> {
  return (await service.ask('/-/readiness')).status;
}

const is =
  (wanted: number) =>
  (status: number): boolean =>
    status === wanted;

/** Resolves after this many FINALs of agents' slots after the instant. */
async function finalsAfter(databaseUrl: string, instantMs: number, count: number): Promise<void> {
  await until(
    () =>
      readDatabase(
        { databaseUrl },
        `select 1 from check_results where result_type = 'FINAL' and run_location = 'cellar' and slot > $1`,
        [new Date(instantMs)],
      ),
    (rows) => rows.length >= count,
  );
}

/** Changes that were confirmed to a client and are missing. */
async function brokenPromises(
  databaseUrl: string,
  { promised }: ApiClients,
): Promise<readonly string[]> {
  const checks = await readDatabase({ databaseUrl }, 'select id, name from checks');
  const names = new Map(checks.map(({ id, name }) => [String(id), name]));
  const results = await readDatabase(
    { databaseUrl },
    `select id from check_results where run_location = 'attic'`,
  );
  const resultIds = new Set(results.map(({ id }) => String(id)));
  return [
    ...[...promised.names]
      .filter(([id, name]) => names.get(id) !== name)
      .map(([id, name]) => `check ${id} is ${names.get(id)} and not ${name}`),
    ...[...promised.resultIds].filter((id) => !resultIds.has(id)).map((id) => `no result ${id}`),
  ];
}

/** Answers that clients must expect: a cut connection, or a Retry-After. */
function isFair(trouble: Trouble): boolean {
  if (trouble.kind === 'cut') return trouble.code === 'ECONNRESET';
  return trouble.status === 503 && /^[1-9]\d?$/.test(trouble.retryAfter ?? '');
}

/** Log lines of a fault, or lines that are not from the logger. */
function troublesIn(log: string): readonly string[] {
  const foreign = log.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
  return [...errorsIn(log), ...foreign];
}
