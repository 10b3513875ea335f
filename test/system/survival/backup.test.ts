import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { metricsOf } from '../../support/agent/agent-metrics.ts';
import { readmeCommand } from '../../support/compose/readme-commands.ts';
import { type DatabaseKind, newPostgresDatabase } from '../../support/database/databases.ts';
import { newDatabase } from '../../support/database/new-database.ts';
import { findPostgres } from '../../support/database/postgres.ts';
import { makeTestFolder } from '../../support/process/test-folder.ts';
import { listening } from '../../support/servers/tcp-servers.ts';
import { download } from '../../support/service/artifact-service.ts';
import {
  type RunningAgent,
  type RunningService,
  startAgent,
  startService,
  until,
} from '../../support/service/deployment.ts';

const KINDS: readonly DatabaseKind[] = ['pglite', 'postgres'];
/** Longer than what a result contains of a body, so that the rest is an artifact. */
const BODY_CHARS = 30_000;
/** Each failed run uploads its result and its artifact. */
const UPLOADS_OF_A_RUN = 2;
const TOKEN = randomBytes(12).toString('hex');

/** The places in which a service stores everything, and the key of its secrets. */
interface Place {
  readonly dataDir: string;
  readonly databaseUrl?: string;
  /** Null for the one that the embedded database has in a file. */
  readonly encryptionKey: string | null;
}

describe.each(KINDS)('a service on %s', (kind) => {
  it('comes back from a backup by the documented commands, and a running agent goes on', async () => {
    const target = await failingTarget();
    const place = await newPlace(kind);
    const lost = await serve(place);
    const { key, slug } = await lost.addLocation('office');
    const variable = { key: 'TOKEN', value: TOKEN, secret: true };
    const made = await lost.ask('/v1/variables', { method: 'POST', body: variable });
    expect(made.status, made.text).toBe(201);
    const checkId = await lost.addCheck('api', {
      name: 'shop',
      privateLocations: [slug],
      ...{ frequency: 0, frequencyOffset: 10, retryStrategy: null, doubleCheck: false },
      request: {
        method: 'GET',
        url: target.url,
        headers: [{ key: 'x-token', value: '{{TOKEN}}' }],
      },
    });
    const agent = await startAgent({ serviceUrl: lost.url, key, dataDir: makeTestFolder() });
    await untilUploaded(agent, UPLOADS_OF_A_RUN);
    const before = await contentOf(lost, checkId);

    const folders = {
      BACKUP: join(makeTestFolder(), 'data'),
      KEYS: join(makeTestFolder(), 'keys'),
    };
    if (kind === 'pglite') {
      expect(await lost.kill('SIGTERM')).toBe(0);
      runCommand('backup-embedded', { ...folders, DATA_DIR: place.dataDir });
    } else {
      runCommand('backup-postgres', { ...folders, ...environmentOf(place) });
      await lost.kill('SIGKILL');
    }
    rmSync(place.dataDir, { recursive: true });
    const uploaded = (await metricsOf(agent))('vedette_uploaded_total');
    // A run while the service is away.
    await until(
      () => metricsOf(agent),
      (metric) => metric('vedette_spool_records') > 0,
    );

    const restored = await restoredPlace(kind, folders);
    const service = await serve(restored, { port: lost.port, apiKey: lost.apiKey });
    const restoredAtMs = Date.now();
    const delivered = await untilUploaded(agent, uploaded + UPLOADS_OF_A_RUN);
    await untilUploaded(agent, delivered + UPLOADS_OF_A_RUN);
    expect((await agent.health()).json).toMatchObject({ state: 'running' });
    // The agent delivers before it polls again: its location has no agent until then.
    await until(
      () => service.ask(`/v1/checks/${checkId}`),
      ({ json }) => json.warnings === undefined,
    );
    const after = await contentOf(service, checkId);
    expect(after.check).toEqual(before.check);
    expect(after.locations).toEqual(before.locations);
    const { id, asset, content } = before.last;
    expect(after.ids).toContain(id);
    const again = await download(service.port, asset, { key: service.apiKey });
    expect([again.status, again.body.equals(content)]).toEqual([200, true]);
    expect(Math.max(...after.startedMs)).toBeGreaterThan(restoredAtMs);
    expect(new Set(after.ids).size).toBe(after.ids.length);

    // A new agent has nothing from before: its variables come from the restored database.
    expect(await agent.kill('SIGTERM')).toBe(0);
    const seen = target.tokens.length;
    const next = await startAgent({ serviceUrl: service.url, key, dataDir: makeTestFolder() });
    await untilUploaded(next, UPLOADS_OF_A_RUN);
    expect(new Set(target.tokens.slice(seen))).toEqual(new Set([TOKEN]));
  });
});

/** Answers each request with another long body, and 500. */
async function failingTarget(): Promise<{ readonly url: string; readonly tokens: string[] }> {
  const tokens: string[] = [];
  const server = createServer(({ headers }, response) => {
    tokens.push(String(headers['x-token']));
    const body = `${tokens.length} `.repeat(BODY_CHARS);
    response.writeHead(500, { 'content-type': 'text/plain; charset=utf-8' }).end(body);
  });
  const target = await listening(server);
  onTestFinished(() => target.close());
  return { url: `http://127.0.0.1:${target.port}/`, tokens };
}

async function newPlace(kind: DatabaseKind): Promise<Place> {
  const database = await newDatabase(kind);
  if ('dataDir' in database) return { ...database, encryptionKey: null };
  return {
    ...database,
    dataDir: makeTestFolder(),
    encryptionKey: randomBytes(32).toString('hex'),
  };
}

/** Restores the backup into a new database and a new folder. */
async function restoredPlace(
  kind: DatabaseKind,
  folders: Readonly<Record<'BACKUP' | 'KEYS', string>>,
): Promise<Place> {
  const dataDir = join(makeTestFolder(), 'restored');
  if (kind === 'pglite') {
    runCommand('restore-embedded', { ...folders, DATA_DIR: dataDir });
    return { dataDir, encryptionKey: null };
  }
  const databaseUrl = await newPostgresDatabase('empty');
  const encryptionKey = readFileSync(join(folders.KEYS, 'encryption-key'), 'utf8').trim();
  runCommand('restore-postgres', { ...folders, DATA_DIR: dataDir, DATABASE_URL: databaseUrl });
  return { dataDir, databaseUrl, encryptionKey };
}

function serve(
  place: Place,
  same: { readonly port?: number; readonly apiKey?: string } = {},
): Promise<RunningService> {
  const { dataDir, databaseUrl, encryptionKey } = place;
  return startService({
    ...same,
    dataDir,
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
    env: encryptionKey === null ? {} : { ENCRYPTION_KEY: encryptionKey },
  });
}

function environmentOf(place: Place): Readonly<Record<string, string>> {
  return {
    DATA_DIR: place.dataDir,
    DATABASE_URL: place.databaseUrl ?? '',
    ENCRYPTION_KEY: place.encryptionKey ?? '',
  };
}

/** Runs a command of the documents, unchanged, with the tools of the tests' PostgreSQL. */
function runCommand(name: string, env: Readonly<Record<string, string>>): void {
  const path = [findPostgres() ?? '', process.env.PATH].join(':');
  const { status, stderr } = spawnSync('sh', ['-euc', readmeCommand(name)], {
    encoding: 'utf8',
    env: { ...env, PATH: path },
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
}

/** Waits until the agent has uploaded `count` records and none waits. Returns their number. */
async function untilUploaded(agent: RunningAgent, count: number): Promise<number> {
  const metric = await until(
    () => metricsOf(agent),
    (now) => now('vedette_uploaded_total') >= count && now('vedette_spool_records') === 0,
  );
  return metric('vedette_uploaded_total');
}

/** The data that a user sees at the service. */
async function contentOf(service: RunningService, checkId: string) {
  const [check, locations, results] = await Promise.all([
    service.ask(`/v1/checks/${checkId}`),
    service.ask('/v1/private-locations'),
    service.ask(`/v1/check-results/${checkId}?resultType=FINAL&limit=100`),
  ]);
  expect([check.status, locations.status, results.status]).toEqual([200, 200, 200]);
  const list: readonly Listed[] = results.json;
  const asset = list[0]?.apiCheckResult.jobAssets[0] ?? '';
  // The artifact of a run may come a moment after its result.
  const { body } = await until(
    () => download(service.port, asset, { key: service.apiKey }),
    ({ status }) => status === 200,
  );
  expect(body.length).toBeGreaterThan(BODY_CHARS);
  const places: readonly { readonly id: string; readonly slug: string }[] = locations.json;
  return {
    check: check.json,
    locations: places.map(({ id, slug }) => ({ id, slug })),
    ids: list.map(({ id }) => id),
    startedMs: list.map(({ startedAt }) => Date.parse(startedAt)),
    last: { id: list[0]?.id ?? '', asset, content: body },
  };
}

interface Listed {
  readonly id: string;
  readonly startedAt: string;
  readonly apiCheckResult: { readonly jobAssets: readonly string[] };
}
