import { once } from 'node:events';
import { chmodSync, readdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.ts';
import { openStore } from '../../../src/service/database/open-store.ts';
import { runCli, startCli } from '../../support/agent/cli.ts';
import { silentLog, storeConfig } from '../../support/database/databases.ts';
import { startPostgres, type TestPostgres } from '../../support/database/postgres.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';
import { askService } from '../../support/service/service-app.ts';

async function newServer(overrides: Readonly<Record<string, string>> = {}): Promise<TestPostgres> {
  const server = await startPostgres(undefined, overrides);
  onTestFinished(() => server.remove());
  return server;
}

function envOf(databaseUrl: string): Record<string, string> {
  return { DATABASE_URL: databaseUrl, PORT: '0', HOST: '127.0.0.1' };
}

it('a service that starts before its PostgreSQL serves once that is up', async () => {
  const server = await newServer();
  const databaseUrl = await server.createDatabase();
  await server.stop('fast');
  const { child, ended, seen } = startCli(['service'], envOf(databaseUrl));
  await seen('stderr', /"level":"warn".*waits for its database.*ECONNREFUSED/);
  await server.start();
  const log = await seen('stderr', /"level":"info".*the database answers[\s\S]*the API is served/);
  const port = Number(/"port":(\d+)/.exec(log)?.[1]);
  expect((await askService(port, '/-/readiness', { key: null })).status).toBe(200);
  child.kill('SIGTERM');
  expect(await ended).toMatchObject({ code: 0, signal: null });
});

it('a service that cannot reach DATABASE_DIRECT_URL waits, and leaves no folder of an attempt behind', async () => {
  const server = await newServer();
  const folder = makeTempFolder();
  onTestFinished(() => folder.remove());
  const { child, ended, seen } = startCli(['service'], {
    ...envOf(await server.createDatabase()),
    DATABASE_DIRECT_URL: 'postgres://test@127.0.0.1:1/v',
    TMPDIR: folder.path,
  });
  await seen('stderr', /"level":"warn".*waits for its database.*DATABASE_DIRECT_URL/);
  child.kill('SIGTERM');
  const { code, stderr } = await ended;
  expect(code).toBe(0);
  expect(stderr).not.toContain('the database answers');
  const names = readdirSync(folder.path);
  expect(names.filter((name) => name.startsWith('vedette-artifacts-'))).toEqual([]);
});

it('a signal ends an attempt to reach a database that accepts connections and does not answer', async () => {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const stop = new AbortController();
  silent.once('connection', () => stop.abort());
  const config = storeConfig({ databaseUrl: `postgres://test@127.0.0.1:${port}/v` });
  // Without the signal, the attempt ends later, with the words of a timeout.
  await expect(
    openStore(config, { clock: systemClock, log: silentLog(), signal: stop.signal }),
  ).rejects.toThrow('Connection terminated unexpectedly');
});

it('a service with a wrong password ends with 2, without waiting', async () => {
  const folder = makeTempFolder();
  onTestFinished(() => folder.remove());
  chmodSync(folder.path, 0o755);
  const rules = folder.file('pg_hba.conf');
  writeFileSync(rules, 'host all all 127.0.0.1/32 scram-sha-256\n');
  chmodSync(rules, 0o644);
  const { port } = await newServer({ hba_file: rules });
  const { code, stderr } = await runCli(
    ['service'],
    envOf(`postgres://test:wrong@127.0.0.1:${port}/postgres`),
  );
  expect(code).toBe(2);
  expect(stderr).toContain('the service cannot start: ');
  expect(stderr).toContain('password authentication failed');
  expect(stderr).not.toContain('waits for its database');
});

it('a service whose database does not exist ends with 2, without waiting', async () => {
  const { port } = await newServer();
  const { code, stderr } = await runCli(
    ['service'],
    envOf(`postgres://test@127.0.0.1:${port}/missing`),
  );
  expect(code).toBe(2);
  expect(stderr).toContain('3D000');
  expect(stderr).not.toContain('waits for its database');
});
