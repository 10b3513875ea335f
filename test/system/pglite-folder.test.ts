import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { MIGRATIONS_FOLDER, readMigrations } from '../../src/service/database/migrate.ts';
import { openStore } from '../../src/service/database/open-store.ts';
import type { Store } from '../../src/service/database/store.ts';
import { silentLog, storeConfig } from '../support/database/databases.ts';
import { captureLog } from '../support/log-capture.ts';
import { asNobody, NOBODY } from '../support/process/as-nobody.ts';
import { openToOthers } from '../support/process/file-modes.ts';
import { makeTempFolder } from '../support/process/temp-folder.ts';

const DRIVER = join(import.meta.dirname, '../support/database/store-driver.mjs');
const temp = makeTempFolder();
const template = temp.file('template');
beforeAll(async () => (await open(template)).close());
afterAll(() => temp.remove());

/** A folder after its first start, which takes the most time. */
function startedFolder(name: string): string {
  const folder = temp.file(name);
  cpSync(template, folder, { recursive: true });
  return folder;
}

function open(dataDir: string, log = silentLog()): Promise<Store> {
  return openStore(storeConfig({ dataDir }), { clock: systemClock, log });
}

interface Other {
  readonly child: ChildProcess;
  /** Resolves with the first line with this prefix; rejects if the process ends without one. */
  line(start: string): Promise<string>;
  /** Every line so far. */
  readonly lines: readonly string[];
  kill(): Promise<void>;
}

/** Starts another process with the same folder. */
function startOther(dataDir: string, mode: 'hold' | 'write' | 'once'): Other {
  const child = spawn(process.execPath, [DRIVER, dataDir, mode], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout }).on('line', (text) => lines.push(text));
  const ended = new Promise<void>((resolve) => reader.once('close', resolve));
  return {
    child,
    lines,
    async line(start) {
      const isOver = ended.then(() => true);
      for (;;) {
        const found = lines.find((text) => text.startsWith(start));
        if (found !== undefined) return found;
        const next = once(reader, 'line').then(() => false);
        if (await Promise.race([isOver, next])) throw new Error(`ended without ${start}: ${lines}`);
      }
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

it('the first start creates the database and logs it, and the next start finds it', async () => {
  const folder = temp.file('new/below');
  const first = captureLog();
  const store = await open(folder, first.log);
  await store.query("create table kept as select 'here' as v");
  await store.close();
  expect(first.records().map(({ msg }) => msg)).toEqual([
    expect.stringContaining('creating the embedded database'),
    'created the embedded database',
  ]);
  // PGlite sets its own mode on its cache, inside closed folders.
  const isCache = (path: string) => path.endsWith('/pg_internal.init');
  expect(openToOthers(folder).filter((path) => !isCache(path))).toEqual([]);

  const second = captureLog();
  const again = await open(folder, second.log);
  expect(await again.query('select v from kept')).toEqual([{ v: 'here' }]);
  await again.close();
  expect(second.records()).toEqual([]);
  expect(process.exitCode).toBeUndefined();
});

it.each([
  ['of this release', 'database', 'vedette-unfinished'],
  ['of the previous one', 'database.new', 'PG_VERSION'],
])('a first start that was interrupted, %s, begins again', async (_release, name, file) => {
  const folder = temp.file(`interrupted/${name}`);
  mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, name, file), '18\n');
  for (const table of ['one', 'other']) {
    const store = await open(folder);
    await store.query(`create table ${table} (n int)`);
    await store.close();
  }
  expect(new Set(readdirSync(folder))).toEqual(new Set(['database', 'database.lock']));
  expect(existsSync(join(folder, 'database', 'vedette-unfinished'))).toBe(false);
  const store = await open(folder);
  expect(await store.query('select * from one, other')).toEqual([]);
  await store.close();
});

it('the first start of the built program copies a database that has the schema already', async () => {
  const folder = temp.file('built');
  const first = startOther(folder, 'hold');
  await first.line('open');
  await first.kill();
  const store = await open(folder);
  const applied = await store.query<{ name: string }>(
    'select name from schema_migrations order by number',
  );
  const names = (await readMigrations(MIGRATIONS_FOLDER)).map(({ name }) => name);
  expect(applied.map(({ name }) => name)).toEqual(names);
  expect(await store.query('select id from accounts')).toEqual([]);
  await store.close();
});

it('a second process is refused in one line that names the first, until the first has ended', async () => {
  const folder = startedFolder('shared');
  const store = await open(folder);
  const second = startOther(folder, 'once');
  const line = await second.line('failed');
  expect(line).toMatch(/^failed STORE_FOLDER_IN_USE /);
  expect(line).toContain(folder);
  expect(line).toContain(`process ${process.pid}`);
  await expect(open(folder)).rejects.toMatchObject({
    kind: 'environment',
    code: 'STORE_FOLDER_IN_USE',
  });
  await store.close();
  const third = startOther(folder, 'hold');
  await third.line('open');
  await expect(open(folder)).rejects.toThrow(`process ${third.child.pid}`);
  // A crash leaves nothing that must be removed by hand.
  await third.kill();
  await (await open(folder)).close();
});

it('kill -9 loses nothing that was committed', async () => {
  const folder = startedFolder('killed');
  for (let round = 1; round <= 2; round += 1) {
    const writer = startOther(folder, 'write');
    await writer.line('wrote');
    const seen = writer.lines.length;
    while (writer.lines.length < seen + 20 * round) {
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    await writer.kill();
    const last = Number(writer.lines.at(-1)?.split(' ')[1]);
    const store = await open(folder);
    const [row] = await store.query<{ count: number; max: number }>(
      'select count(*) as count, max(n) as max from written',
    );
    await store.close();
    expect(row?.max).toBeGreaterThanOrEqual(last);
    expect(row?.count).toBe(row?.max);
  }
});

it.each([
  ['is a file', () => writeFileSync(temp.file('a-file'), ''), 'a-file'],
  ['lies below a file', () => writeFileSync(temp.file('b-file'), ''), 'b-file/below'],
])('refuses a folder that %s, in one line', async (_, prepare, name) => {
  prepare();
  const error: unknown = await open(temp.file(name)).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ kind: 'environment', code: 'STORE_FOLDER_UNUSABLE' });
  expect(String(error)).toContain(temp.file(name));
  expect(String(error)).not.toContain('\n');
});

it('a database of another release is refused in one line', async () => {
  const folder = startedFolder('other-release');
  const file = join(folder, 'database', 'PG_VERSION');
  const version = readFileSync(file);
  writeFileSync(file, '12\n');
  const error: unknown = await open(folder).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ kind: 'environment', code: 'STORE_FOLDER_UNREADABLE' });
  expect(String(error)).not.toContain('\n');
  writeFileSync(file, version);
  await (await open(folder)).close();
});

it.runIf(process.geteuid?.() === 0)(
  'a database with a file of root is refused to its user in one line that names the file',
  async () => {
    const folder = startedFolder('with-file-of-root');
    chmodSync(temp.path, 0o755);
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    for (const path of [folder, ...files.map((name) => join(folder, name))]) {
      chownSync(path, NOBODY, NOBODY);
    }
    const file = join(folder, 'database/global/pg_control');
    chownSync(file, 0, 0);
    chmodSync(file, 0o600);
    const error: unknown = await asNobody(() => open(folder)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: 'environment', code: 'STORE_FOLDER_UNREADABLE' });
    expect(String(error)).toContain(
      `because user ${NOBODY} may not open ${file}, which belongs to user 0`,
    );
    expect(String(error)).not.toContain('\n');
    chownSync(file, NOBODY, NOBODY);
    await asNobody(async () => (await open(folder)).close());
  },
);

it('sockets and timers are served while many statements wait', async () => {
  const store = await openStore(storeConfig(), { clock: systemClock, log: silentLog() });
  let turns = 0;
  const done = new AbortController();
  const count = (): void => {
    turns += 1;
    if (!done.signal.aborted) setImmediate(count);
  };
  setImmediate(count);
  await Promise.all(
    Array.from({ length: 500 }, () => store.query('select sum(n) from generate_series(1, 5000) n')),
  );
  done.abort();
  await store.close();
  expect(turns).toBeGreaterThan(10);
});
