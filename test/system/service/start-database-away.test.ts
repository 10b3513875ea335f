import { chmodSync, writeFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { runCli, startCli } from '../../support/agent/cli.ts';
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
