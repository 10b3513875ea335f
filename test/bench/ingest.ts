import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Agent } from 'undici';
import { systemClock } from '../../src/runtime/clock.ts';
import { insertAccount } from '../../src/service/store/accounts.ts';
import { migrate } from '../../src/service/store/migrate.ts';
import { openStore } from '../../src/service/store/open-store.ts';
import { PATHS } from '../../src/wire/v1/limits.ts';
import { silentLog, storeConfig } from '../support/databases.ts';
import { findPostgres, startPostgres } from '../support/postgres.ts';
import { testFeatures } from '../support/service-features.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { cpuMsOf, cpuMsOfFamily } from './cpu-time.ts';
import { type Upload, uploadsOf } from './ingest-data.ts';

/**
 * How many results a second the service takes in: a real service process, and agents that post
 * gzip batches over HTTP from this process, on the same machine. Run by `npm run bench:ingest`,
 * which compiles dist first.
 */

const MAIN = join(import.meta.dirname, '../../dist/cli/main.js');
const AGENTS = 8;
const CHECKS_OF_AN_AGENT = 500;
const BATCH = 250;
const PERIOD_MS = 60_000;
const WARM_UP_SHARE = 0.15;

interface Database {
  readonly name: string;
  readonly results: number;
  readonly env: Readonly<Record<string, string>>;
  /** CPU milliseconds that the database takes outside of the service. */
  cpuMs(): number;
  remove(): Promise<void>;
}

async function pglite(): Promise<Database> {
  const folder = makeTempFolder();
  return {
    name: 'PGlite',
    results: 30_000,
    env: { DATA_DIR: folder.file('data') },
    cpuMs: () => 0,
    remove: async () => folder.remove(),
  };
}

async function postgres(): Promise<Database> {
  // As a server is that must not lose anything.
  const server = await startPostgres(undefined, { fsync: 'on' });
  return {
    name: 'PostgreSQL',
    results: 80_000,
    env: { DATABASE_URL: await server.createDatabase() },
    cpuMs: () => cpuMsOfFamily(server.pid),
    remove: () => server.remove(),
  };
}

/** An account with a location that has all the checks. */
async function furnish({ env }: Database): Promise<{ readonly key: string }> {
  const { DATABASE_URL: databaseUrl = null, DATA_DIR: dataDir = null } = env;
  const log = silentLog();
  const store = await openStore(storeConfig({ databaseUrl, dataDir }), { clock: systemClock, log });
  await migrate(store, log);
  const { features, close } = await testFeatures(store, systemClock);
  const accountId = randomUUID();
  await insertAccount(store, { id: accountId, name: 'bench', createdAtMs: Date.now() });
  const location = await features.privateLocations.create(accountId, {
    slug: 'here',
    name: 'Here',
  });
  const { key } = await features.locationKeys.create(accountId, location.id);
  const request = { url: 'https://orders.test/health' };
  const body = { checkType: 'API', name: 'Orders', request, privateLocations: ['here'] };
  const { check } = await features.checks.put(accountId, 'check-0', body, {
    autoAssignAlerts: true,
  });
  const { id: _, ...fields } = check;
  await store.query(
    `insert into checks (account_id, id, check_type, name, activated, muted, frequency, body)
     select $1, 'check-' || n, 'API', 'Orders', true, false, 1, $2::jsonb
     from generate_series(1, $3::int - 1) n`,
    [accountId, fields, AGENTS * CHECKS_OF_AN_AGENT],
  );
  await close();
  await store.close();
  return { key };
}

async function startService(env: Database['env']) {
  const child = spawn(process.execPath, [MAIN, 'service'], {
    env: { PATH: process.env.PATH, PORT: '0', HOST: '127.0.0.1', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const lines = createInterface({ input: child.stderr });
  const port = await new Promise<number>((resolve, reject) => {
    let said = '';
    lines.on('line', (line) => {
      said += `${line}\n`;
      const found = /"port":(\d+)/.exec(line)?.[1];
      if (found !== undefined) resolve(Number(found));
    });
    child.once('exit', () => reject(new Error(`the service ended: ${said}`)));
  });
  return {
    pid: child.pid ?? 0,
    origin: `http://127.0.0.1:${port}`,
    async stop() {
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      await exit;
    },
  };
}

/** Agents with a connection each and one upload under way each, until all uploads are taken. */
async function upload(origin: string, key: string, queues: readonly (readonly Upload[])[]) {
  const dispatcher = new Agent({ connections: AGENTS, pipelining: 1 });
  const tookMs: number[] = [];
  const headers = {
    authorization: `Bearer ${key}`,
    'x-agent-protocol': '1',
    'content-type': 'application/json',
    'content-encoding': 'gzip',
  };
  const startMs = performance.now();
  await Promise.all(
    queues.map(async (queue) => {
      for (const { body, results } of queue) {
        const sentMs = performance.now();
        const reply = await dispatcher.request({
          origin,
          path: PATHS.results,
          method: 'POST',
          headers,
          body,
        });
        const text = await reply.body.text();
        const taken = reply.statusCode === 200 ? JSON.parse(text).accepted.length : 0;
        if (taken !== results) throw new Error(`${reply.statusCode} ${text.slice(0, 500)}`);
        tookMs.push(performance.now() - sentMs);
      }
    }),
  );
  const wallMs = performance.now() - startMs;
  await dispatcher.close();
  return { wallMs, tookMs: tookMs.toSorted((one, other) => one - other) };
}

async function measure(database: Database): Promise<void> {
  const { key } = await furnish(database);
  const firstSlotMs = Math.floor(Date.now() / PERIOD_MS - 60) * PERIOD_MS;
  const queues = Array.from({ length: AGENTS }, (_, agent) => [
    ...uploadsOf({
      agentId: `agent-${agent}`,
      location: 'here',
      checkIds: Array.from(
        { length: CHECKS_OF_AN_AGENT },
        (__, n) => `check-${agent * CHECKS_OF_AN_AGENT + n}`,
      ),
      firstSlotMs,
      periodMs: PERIOD_MS,
      results: database.results / AGENTS,
      batch: BATCH,
    }),
  ]);
  const warmUp = Math.ceil((queues[0]?.length ?? 0) * WARM_UP_SHARE);
  const service = await startService(database.env);
  try {
    await upload(
      service.origin,
      key,
      queues.map((queue) => queue.slice(0, warmUp)),
    );
    const measured = queues.map((queue) => queue.slice(warmUp));
    const uploads = measured.flat();
    const count = uploads.reduce((sum, { results }) => sum + results, 0);
    const bytes = uploads.reduce((sum, one) => sum + one.bytes, 0);
    const before = [cpuMsOf(service.pid), database.cpuMs(), cpuMsOf(process.pid)];
    const { wallMs, tookMs } = await upload(service.origin, key, measured);
    const after = [cpuMsOf(service.pid), database.cpuMs(), cpuMsOf(process.pid)];
    const us = after.map((cpuMs, at) => Math.round(((cpuMs - (before[at] ?? 0)) * 1000) / count));
    const quantile = (share: number) => Math.round(tookMs[Math.floor(tookMs.length * share)] ?? 0);
    process.stdout.write(
      `${database.name}: ${Math.round((count * 1000) / wallMs)} results/s ` +
        `(${count} of ${Math.round(bytes / count)} bytes in batches of ${BATCH} from ${AGENTS} agents; ` +
        `a batch takes ${quantile(0.5)} ms, p99 ${quantile(0.99)} ms; ` +
        `CPU a result: service ${us[0]} us, database ${us[1]} us, agents ${us[2]} us)\n`,
    );
  } finally {
    await service.stop();
  }
}

for (const open of findPostgres() === null ? [pglite] : [pglite, postgres]) {
  const database = await open();
  try {
    await measure(database);
  } finally {
    await database.remove();
  }
}
if (findPostgres() === null) {
  process.stdout.write('PostgreSQL: not measured, as there is no initdb and postgres on PATH\n');
}
