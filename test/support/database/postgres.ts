import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { type EventEmitter, once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Client } from 'pg';
import { makeTempFolder } from '../process/temp-folder.ts';
import type { Identity } from '../servers/certificates.ts';

const KEPT_LOG_CHARS = 20_000;

/** A separate PostgreSQL server, on a free port of the loopback. */
export interface TestPostgres {
  readonly port: number;
  /** The server's pid; it has a child for each connection. */
  readonly pid: number;
  /** Folder of its Unix socket. */
  readonly socketFolder: string;
  /** URL of a new, empty database. */
  createDatabase(): Promise<string>;
  /** `immediate` cuts every connection and leaves the rest to recovery, like a crash. */
  stop(how: 'fast' | 'immediate'): Promise<void>;
  start(): Promise<void>;
  /** Stops it and removes its files. */
  remove(): Promise<void>;
}

/** The folder of initdb and postgres; null if not installed. */
export function findPostgres(): string | null {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian) : [];
  const newestFirst = versions.toSorted((a, b) => Number(b) - Number(a));
  const folders = [
    ...(process.env.PATH ?? '').split(':'),
    ...newestFirst.map((version) => join(debian, version, 'bin')),
  ];
  return folders.find((folder) => ['initdb', 'postgres'].every(isIn(folder))) ?? null;
}

const isIn = (folder: string) => (name: string) => existsSync(join(folder, name));

/**
 * Creates a cluster and starts it. A root user runs it as `nobody`, since PostgreSQL refuses root.
 *
 * @param tls the server's certificate; TLS is off by default
 * @param overrides settings that replace those of the tests
 */
export async function startPostgres(
  tls?: Identity,
  overrides: Readonly<Record<string, string>> = {},
): Promise<TestPostgres> {
  const binaries = findPostgres();
  if (binaries === null)
    throw new Error('no initdb and postgres on PATH or in /usr/lib/postgresql');
  const folder = makeTempFolder();
  const data = folder.file('data');
  const user = process.getuid?.() === 0 ? nobody() : null;
  const spawnOptions = { ...(user ?? {}), cwd: '/', env: { ...process.env, LC_ALL: 'C' } };
  const giveAway = (path: string): void => {
    if (user !== null) chownSync(path, user.uid, user.gid);
  };
  giveAway(folder.path);
  execFileSync(
    join(binaries, 'initdb'),
    ['-D', data, '-U', 'test', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'],
    { ...spawnOptions, stdio: 'ignore' },
  );
  const port = await freePort();
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: folder.path,
    fsync: 'off',
    max_connections: 40,
    // The product must set UTC itself, whatever the server's setting.
    timezone: 'Asia/Kathmandu',
    datestyle: 'SQL, DMY',
    ...(tls === undefined ? {} : { ssl: 'on', ssl_cert_file: 'tls.crt', ssl_key_file: 'tls.key' }),
    ...overrides,
  };
  if (tls !== undefined) {
    for (const [name, text] of [['tls.crt', tls.cert] as const, ['tls.key', tls.key] as const]) {
      const file = join(data, name);
      writeFileSync(file, text);
      chmodSync(file, 0o600);
      giveAway(file);
    }
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  let server: ChildProcess | null = null;
  let databases = 0;

  const url = (database: string): string => `postgres://test@127.0.0.1:${port}/${database}`;
  const start = async (): Promise<void> => {
    server = spawn(join(binaries, 'postgres'), ['-D', data, ...flags], {
      ...spawnOptions,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await ready(server);
  };
  // If a hook timed out, the server would outlive the tests.
  const onExit = (): void => void server?.kill('SIGQUIT');
  process.once('exit', onExit);
  const stop = async (how: 'fast' | 'immediate'): Promise<void> => {
    if (server === null || server.exitCode !== null) return;
    const exit = once(server, 'exit');
    server.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT');
    await exit;
    server = null;
  };
  await start();
  return {
    port,
    get pid() {
      return server?.pid ?? 0;
    },
    socketFolder: folder.path,
    async createDatabase() {
      databases += 1;
      const client = new Client({ connectionString: url('postgres') });
      await client.connect();
      try {
        await client.query(`create database test_${databases}`);
      } finally {
        await client.end();
      }
      return url(`test_${databases}`);
    },
    start,
    stop,
    async remove() {
      await stop('immediate');
      process.off('exit', onExit);
      folder.remove();
    },
  };
}

/**
 * Resolves when the server accepts connections; rejects with its log if it ends before. Reads the log
 * to the end as well: a full pipe would block the server.
 */
export function ready(server: EventEmitter & Pick<ChildProcess, 'stderr'>): Promise<void> {
  return new Promise((resolve, reject) => {
    // While it recovers, it logs each connection that it refuses: its last lines count.
    let log = '';
    server.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      log = (log + chunk).slice(-KEPT_LOG_CHARS);
      if (log.includes('ready to accept connections')) resolve();
    });
    server.once('error', reject);
    server.once('exit', () => reject(new Error(`postgres ended at once: ${log}`)));
  });
}

function nobody(): { readonly uid: number; readonly gid: number } {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith('nobody:'));
  const [, , uid, gid] = (line ?? '').split(':');
  if (uid === undefined || gid === undefined) throw new Error('no user nobody in /etc/passwd');
  return { uid: Number(uid), gid: Number(gid) };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
