import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { makeTestFolder } from '../process/test-folder.ts';
import { listen } from '../servers/http-servers.ts';

/**
 * Starts Debian's PgBouncer, which gives a connection of the server to a client for each transaction, as
 * src/service/README.md, "PgBouncer", describes it. It ends with the test. Returns the URL of the
 * same database through it.
 */
export async function startPgBouncer(databaseUrl: string): Promise<string> {
  const { hostname, port: serverPort, pathname } = new URL(databaseUrl);
  const port = await freePort();
  const folder = makeTestFolder();
  // It refuses to run as root.
  chmodSync(folder, 0o755);
  const file = join(folder, 'pgbouncer.ini');
  const config = [
    '[databases]',
    `* = host=${hostname} port=${serverPort} user=test connect_query='set timezone to utc; set datestyle to iso'`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    'ignore_startup_parameters = options,statement_timeout,idle_in_transaction_session_timeout',
  ];
  writeFileSync(file, `${config.join('\n')}\n`);
  const user = process.getuid?.() === 0 ? ['--user', 'nobody'] : [];
  const child = spawn('/usr/sbin/pgbouncer', [...user, file], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => reject(new Error(`pgbouncer ended: ${said}`)));
    createInterface({ input: child.stderr }).on('line', (line) => {
      said += `${line}\n`;
      if (line.includes('process up')) resolve();
    });
  });
  return `postgres://test@127.0.0.1:${port}${pathname}`;
}

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
