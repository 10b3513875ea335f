import { randomUUID } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Client } from 'pg';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { mountSmallDisk, type SmallDisk } from '../../support/agent/small-disk.ts';
import type { DatabaseKind } from '../../support/database/databases.ts';
import { copyMigratedDatabase } from '../../support/database/new-database.ts';
import { lacking } from '../../support/process/system-needs.ts';
import { makeTestFolder } from '../../support/process/test-folder.ts';
import { addVisitors, CountingTarget } from '../../support/servers/counting-target.ts';
import { listening } from '../../support/servers/tcp-servers.ts';
import { startAgent, startService, until, untilResults } from '../../support/service/deployment.ts';

const lacks = lacking({ commands: ['mount', 'umount'], files: [] });
const CHECKS = 30;

/** A database whose tables are on the small disk. */
async function databaseOn(
  { path }: SmallDisk,
  kind: DatabaseKind,
): Promise<{ readonly dataDir: string } | { readonly databaseUrl: string }> {
  if (kind === 'pglite') {
    const dataDir = join(path, 'data');
    mkdirSync(dataDir, { mode: 0o700 });
    copyMigratedDatabase(dataDir);
    return { dataDir };
  }
  const server = inject('postgres');
  if (server === null) throw new Error('no initdb and postgres on PATH or in /usr/lib/postgresql');
  const address = `postgres://test@127.0.0.1:${server.port}`;
  const name = `full_${randomUUID().replaceAll('-', '')}`;
  const folder = join(path, 'tables');
  mkdirSync(folder);
  const client = new Client({ connectionString: `${address}/postgres` });
  await client.connect();
  onTestFinished(async () => {
    await client.query(`drop database if exists ${name} with (force)`);
    await client.query(`drop tablespace if exists on_${name}`);
    await client.end();
  });
  // Owned by the server's user, who may be another.
  const { rows } = await client.query('show data_directory');
  const { uid, gid } = statSync(rows[0].data_directory);
  chmodSync(path, 0o755);
  chownSync(folder, uid, gid);
  await client.query(`create tablespace on_${name} location '${folder}'`);
  // Created there: moving a database waits for two checkpoints of the whole server.
  await client.query(`create database ${name} template ${server.migrated} tablespace on_${name}`);
  return { databaseUrl: `${address}/${name}` };
}

describe.skipIf(lacks !== null).each(['pglite', 'postgres'] as const)(
  `a service on %s whose disk is full${lacks === null ? '' : ` (lacks ${lacks})`}`,
  (kind) => {
    it('a service that can store no result is not ready, answers what it can, and is ready again once there is space', async () => {
      const disk = mountSmallDisk(400);
      const service = await startService(await databaseOn(disk, kind));
      const { key, slug } = await service.addLocation('cellar');
      const target = new CountingTarget();
      const { port, close } = await listening(createServer((socket) => target.serve(socket, '')));
      onTestFinished(() => close());
      const [checkId = ''] = (await addVisitors(service, { count: CHECKS, slug, port })).values();
      const options = { serviceUrl: service.url, key, dataDir: makeTestFolder() };
      const agent = await startAgent(options);
      const readiness = () => service.ask('/-/readiness', { key: null });
      await untilResults(service.ask, checkId);
      expect((await readiness()).status).toBe(200);

      disk.fill();
      const refused = await until(readiness, ({ status }) => status === 503);
      expect(refused.json.message).toMatch(/^The database refuses results/);
      expect((await service.ask('/health', { key: null })).json.database).toBe('refuses');
      // It stays unready with every request, and existing data can be read.
      for (let time = 0; time < 5; time += 1) expect((await readiness()).status).toBe(503);
      expect((await service.ask(`/v1/check-results/${checkId}`)).json).not.toEqual([]);
      expect((await service.ask('/-/liveness', { key: null })).status).toBe(200);

      disk.empty();
      await until(readiness, ({ status }) => status === 200);
      expect(service.log().match(/the database refuses results/g)).toHaveLength(1);
      expect(service.log()).toContain('the database accepts results again');
      expect(await agent.kill('SIGTERM')).toBe(0);
      expect(await service.kill('SIGTERM')).toBe(0);
    });
  },
);
