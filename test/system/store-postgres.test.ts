import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { migrate } from '../../src/service/database/migrate.ts';
import { openStore, type StoreConfig } from '../../src/service/database/open-store.ts';
import type { Store } from '../../src/service/database/store.ts';
import { mayHaveCommitted, StoreError } from '../../src/service/database/store-errors.ts';
import { silentLog, storeConfig } from '../support/database/databases.ts';
import { startPostgres, type TestPostgres } from '../support/database/postgres.ts';
import { captureLog } from '../support/log-capture.ts';
import { makeTempFolder } from '../support/process/temp-folder.ts';
import { createAuthority } from '../support/servers/certificates.ts';

const temp = makeTempFolder();
let server: TestPostgres;
const opened: Store[] = [];

beforeAll(async () => {
  const authority = await createAuthority();
  const elsewhere = await createAuthority('Another Root');
  writeFileSync(temp.file('root.pem'), authority.cert);
  writeFileSync(temp.file('other.pem'), elsewhere.cert);
  server = await startPostgres(await authority.issue({ names: ['localhost'] }));
});
afterAll(async () => {
  try {
    await Promise.all(opened.map((store) => store.close()));
  } finally {
    await server.remove();
    temp.remove();
  }
});

async function open(databaseUrl: string, part: Partial<StoreConfig> = {}): Promise<Store> {
  const config = storeConfig({ databaseUrl, ...part });
  const store = await openStore(config, { clock: systemClock, log: silentLog() });
  opened.push(store);
  return store;
}

/** Retries until there is an answer; every error meanwhile must be retryable. */
async function untilItAnswers(store: Store): Promise<void> {
  for (;;) {
    try {
      await store.query('select 1');
      return;
    } catch (error) {
      expect(error).toMatchObject({ name: 'StoreError', kind: 'unavailable' });
    }
  }
}

describe('a server that goes away', () => {
  it.each(['fast', 'immediate'] as const)(
    'statements fail as unavailable while the server is away, and then work again (%s stop)',
    async (how) => {
      const store = await open(await server.createDatabase());
      await store.query('create table kept (n int primary key)');
      // Idle connections to be cut, and one in the middle of a transaction.
      await Promise.all(Array.from({ length: 5 }, () => store.query('select 1')));
      let isInside: () => void = () => {};
      let goOn: () => void = () => {};
      const inside = new Promise<void>((resolve) => {
        isInside = resolve;
      });
      const stopped = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      const cut = store
        .transaction(async (tx) => {
          await tx.query('insert into kept values (1)');
          isInside();
          await stopped;
          await tx.query('insert into kept values (2)');
        })
        .catch((error: unknown) => error);
      await inside;
      const running = store.query('select pg_sleep(60)').catch((error: unknown) => error);
      await server.stop(how);
      goOn();
      for (const failed of [await cut, await running]) {
        expect(failed).toBeInstanceOf(StoreError);
        expect(failed).toMatchObject({ kind: 'unavailable' });
      }
      await expect(store.query('select 1')).rejects.toMatchObject({ kind: 'unavailable' });
      await server.start();
      await untilItAnswers(store);
      expect(await store.query('select n from kept')).toEqual([]);
      await store.transaction(async (tx) => {
        await tx.query('insert into kept values (3)');
      });
      expect(await store.query('select n from kept')).toEqual([{ n: 3 }]);
    },
  );

  it('after a server comes back, the listener has reported the loss, reconnects and reports that notifications may be missing', async () => {
    const store = await open(await server.createDatabase());
    const heard: string[] = [];
    let wake: () => void = () => {};
    const until = async (condition: () => boolean): Promise<void> => {
      while (!condition()) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    };
    const note = (what: string): void => {
      heard.push(what);
      wake();
    };
    const onGap = () => note('<gap>');
    await store.listen('news', note, onGap, () => note('<lost>'));
    await store.listen('plain', (payload) => note(`plain:${payload}`));
    await store.query("notify news, 'before'");
    await until(() => heard.includes('before'));
    await server.stop('immediate');
    await server.start();
    await until(() => heard.includes('<gap>') && heard.includes('plain:'));
    await untilItAnswers(store);
    await store.query("notify news, 'after'");
    await until(() => heard.includes('after'));
    expect(heard.filter((what) => what === '<gap>')).toHaveLength(1);
    expect(heard.indexOf('<lost>')).toBe(heard.indexOf('before') + 1);
    expect(heard.lastIndexOf('<lost>')).toBeLessThan(heard.indexOf('<gap>'));
  });

  it('a server that is away can be neither opened nor listened to', async () => {
    const databaseUrl = await server.createDatabase();
    const store = await open(databaseUrl);
    await server.stop('fast');
    const unavailable = { name: 'StoreError', kind: 'unavailable' };
    await expect(store.listen('news', () => {})).rejects.toMatchObject(unavailable);
    await expect(open(databaseUrl)).rejects.toMatchObject(unavailable);
    await server.start();
    await untilItAnswers(store);
    const end = await store.listen('news', () => {});
    await end();
  });
});

describe('a connection that ends in a transaction', () => {
  const END_CONNECTION = 'select pg_terminate_backend(pg_backend_pid())';

  it('the outcome is unknown only if it ends in COMMIT', async () => {
    const store = await open(await server.createDatabase());
    await store.query('create table kept (n int primary key)');
    await store.query(`create function end_connection() returns trigger language plpgsql as $$
      begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$`);
    await store.query(`create constraint trigger at_commit after insert on kept
      deferrable initially deferred for each row execute function end_connection()`);
    const inWork = store.transaction((tx) => tx.query(END_CONNECTION));
    const before: unknown = await inWork.catch((error: unknown) => error);
    expect(before).toMatchObject({ name: 'StoreError', kind: 'unavailable' });
    expect(mayHaveCommitted(before)).toBe(false);
    const inCommit = store.transaction((tx) => tx.query('insert into kept values (1)'));
    const during: unknown = await inCommit.catch((error: unknown) => error);
    expect(during).toMatchObject({ kind: 'unavailable', code: 'STORE_COMMIT_UNKNOWN' });
    expect(mayHaveCommitted(during)).toBe(true);
    expect(await store.query('select n from kept')).toEqual([]);
  });
});

describe('limits', () => {
  it('a statement over the time limit is ended, and its connection is reused', async () => {
    const store = await open(await server.createDatabase(), {
      statementTimeoutMs: 50,
      poolSize: 1,
    });
    const [before] = await store.query('select pg_backend_pid() as pid');
    await expect(store.query('select pg_sleep(60)')).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'STORE_STATEMENT_TIMEOUT',
    });
    expect(await store.query('select pg_backend_pid() as pid')).toEqual([before]);
    // A transaction may have another limit, which ends with it.
    await store.transaction(async (tx) => void (await tx.query('select pg_sleep(0.1)')), {
      statementTimeoutMs: 10_000,
    });
    expect(await store.query("select current_setting('statement_timeout') as v")).toEqual([
      { v: '50ms' },
    ]);
  });

  it('statements are not compiled, unless the URL says so', async () => {
    const url = await server.createDatabase();
    const jit = async (databaseUrl: string): Promise<unknown> => {
      const store = await open(databaseUrl);
      return store.query(
        "select current_setting('jit') as jit, current_setting('timezone') as zone",
      );
    };
    expect(await jit(url)).toEqual([{ jit: 'off', zone: 'UTC' }]);
    const withJit = `${url}?options=${encodeURIComponent('-c jit=on')}`;
    expect(await jit(withJit)).toEqual([{ jit: 'on', zone: 'UTC' }]);
  });

  it('the pool never has more connections than its size', async () => {
    const store = await open(await server.createDatabase(), { poolSize: 3 });
    await Promise.all(Array.from({ length: 50 }, () => store.query('select pg_sleep(0.001)')));
    const [row] = await store.query<{ n: number }>(
      `select count(*) as n from pg_stat_activity
       where datname = current_database() and application_name = 'vedette/3'`,
    );
    expect(row?.n).toBe(3);
  });

  it('the pool refuses callers that it cannot serve in time', async () => {
    const store = await open(await server.createDatabase(), { poolSize: 1 });
    const all = await Promise.allSettled(
      Array.from({ length: 5100 }, () => store.query('select 1')),
    );
    const failed = all.filter((one) => one.status === 'rejected').map(({ reason }) => reason);
    expect(failed.length).toBeGreaterThan(0);
    for (const error of failed) {
      expect(error).toMatchObject({ kind: 'unavailable', code: 'STORE_BUSY' });
    }
    expect(await store.query('select 1 as v')).toEqual([{ v: 1 }]);
  });
});

describe('concurrent transactions', () => {
  it('transactions are repeated after a real serialization failure and a real deadlock', async () => {
    const store = await open(await server.createDatabase());
    await store.query('create table n (id int primary key, v int)');
    await store.query('insert into n values (1, 0), (2, 0)');
    const add = (first: number, second: number, isolation: string) =>
      store.transaction(async (tx) => {
        await tx.query(`set transaction isolation level ${isolation}`);
        await tx.query('update n set v = v + 1 where id = $1', [first]);
        await tx.query('select pg_sleep(0.02)');
        await tx.query('update n set v = v + 1 where id = $1', [second]);
      });
    await Promise.all([add(1, 1, 'serializable'), add(1, 1, 'serializable')]);
    await store.query('update n set v = 0');
    await Promise.all([add(1, 2, 'read committed'), add(2, 1, 'read committed')]);
    expect(await store.query('select v from n order by id')).toEqual([{ v: 2 }, { v: 2 }]);
  });
});

describe('replicas that start at once', () => {
  it('replicas that start at once migrate once between them', async () => {
    const databaseUrl = await server.createDatabase();
    const replicas = await Promise.all([1, 2, 3].map(() => open(databaseUrl)));
    const done = await Promise.all(replicas.map((store) => migrate(store, silentLog())));
    const applied = done.flatMap((one) => one.applied);
    expect(new Set(applied).size).toBe(applied.length);
    expect(await open(databaseUrl).then((store) => migrate(store, silentLog()))).toEqual({
      left: [],
      applied: [],
    });
    const [first, second] = replicas;
    const days = ["'2026-01-01', '2026-01-20'", "'2026-01-10', '2026-01-30'"];
    await Promise.all(
      [first, second].map((store, index) =>
        store?.query(`select make_result_partitions(${days[index]})`),
      ),
    );
    expect(
      await first?.query(
        "select count(*) as n from pg_inherits where inhparent = 'check_results'::regclass",
      ),
    ).toEqual([{ n: 30 }]);
  });

  it('a migration that waits does not stop the previous release from writing', async () => {
    const databaseUrl = await server.createDatabase();
    const [former, next] = await Promise.all([open(databaseUrl), open(databaseUrl)]);
    await former.query('create table busy (n int)');
    const folder = makeTempFolder();
    writeFileSync(folder.file('0001_alter.sql'), 'alter table busy add column more text;');
    const { log, records } = captureLog();
    let hasWaited: () => void = () => {};
    const waited = new Promise<void>((resolve) => {
      hasWaited = resolve;
    });
    const clock = {
      ...systemClock,
      after(_: number, callback: () => void) {
        hasWaited();
        return systemClock.after(0, callback);
      },
    };
    let migrating: Promise<unknown> = Promise.resolve();
    await former.transaction(async (tx) => {
      await tx.query('insert into busy values (1)');
      migrating = migrate(next, log, { folder: folder.path, clock });
      await waited;
    });
    expect(await migrating).toEqual({ applied: ['0001_alter.sql'], left: [] });
    expect(records().map(({ msg }) => msg)).toContainEqual(expect.stringContaining('trying again'));
    folder.remove();
  });
});

describe('TLS by sslmode', () => {
  const tlsOf = async (store: Store): Promise<unknown> =>
    (await store.query('select ssl from pg_stat_ssl where pid = pg_backend_pid()'))[0]?.ssl;
  const urlWith = async (query: string, host = 'localhost'): Promise<string> =>
    `${(await server.createDatabase()).replace('127.0.0.1', host)}?${query}`;

  it.each([
    ['', false],
    ['sslmode=disable', false],
    ['sslmode=require', true],
    ['sslmode=verify-full&sslrootcert=ROOT', true],
    ['sslmode=verify-ca&sslrootcert=ROOT', true],
    ['sslmode=require&sslrootcert=ROOT', true],
  ])('%s', async (query, isEncrypted) => {
    const url = await urlWith(query.replace('ROOT', temp.file('root.pem')));
    expect(await tlsOf(await open(url))).toBe(isEncrypted);
  });

  it('only verify-full checks the server’s name', async () => {
    const root = `sslrootcert=${temp.file('root.pem')}`;
    await expect(
      open(await urlWith(`sslmode=verify-full&${root}`, '127.0.0.1')),
    ).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await tlsOf(await open(await urlWith(`sslmode=verify-ca&${root}`, '127.0.0.1')))).toBe(
      true,
    );
  });

  it.each(['require', 'verify-ca', 'verify-full'])(
    'sslmode=%s refuses a certificate of another authority',
    async (mode) => {
      const url = await urlWith(`sslmode=${mode}&sslrootcert=${temp.file('other.pem')}`);
      await expect(open(url)).rejects.toMatchObject({ kind: 'unavailable' });
    },
  );
});

it.each(['postgres://test@/', 'postgres:///'])(
  'a database is reached by its Unix socket: %s',
  async (start) => {
    const name = new URL(await server.createDatabase()).pathname.slice(1);
    const rest = `host=${server.socketFolder}&port=${server.port}&user=test`;
    const store = await open(`${start}${name}?${rest}`);
    expect(await store.query('select inet_server_addr() as address')).toEqual([{ address: null }]);
  },
);

it('a database that does not exist is refused as unavailable, in one line', async () => {
  const url = (await server.createDatabase()).replace(/[^/]+$/, 'nowhere');
  const error: unknown = await open(url).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ kind: 'unavailable', code: 'STORE_REFUSED', sqlState: '3D000' });
  expect(String(error)).not.toContain('\n');
});
