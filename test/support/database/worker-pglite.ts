import { readFileSync } from 'node:fs';
import { PGlite, type Results } from '@electric-sql/pglite';
import { inject } from 'vitest';
import type { Clock } from '../../../src/runtime/clock.ts';
import { migrate } from '../../../src/service/database/migrate.ts';
import { PgliteStore } from '../../../src/service/database/pglite/pglite.ts';
import type { Store } from '../../../src/service/database/store.ts';
import { PARSERS } from '../../../src/service/database/values.ts';
import { silentLog } from './silent-store.ts';

/** Most test files use one at a time, and some two. */
const MAX_KEPT = 2;

/**
 * An embedded database in memory that the test files of a worker share: opening one takes most of a
 * second, emptying it a twentieth.
 */
class ReusablePglite extends PGlite {
  /** Whether it has the schema of this release, apart from partitions and rows. */
  isMigrated = true;
  readonly #endListening = new Set<() => Promise<void>>();

  constructor(archive: Blob) {
    super({ parsers: PARSERS, loadDataDir: archive });
  }

  /** A store closes its database: this one stays open for the next store. */
  override async close(): Promise<void> {
    for (const end of this.#endListening) await end();
    this.#endListening.clear();
    if (kept.length < MAX_KEPT) kept.push(this);
    else await super.close();
  }

  override async query<Row>(...args: Parameters<PGlite['query']>): Promise<Results<Row>> {
    this.#noteChange(args[0]);
    return await super.query<Row>(...args);
  }

  override async exec(...args: Parameters<PGlite['exec']>): ReturnType<PGlite['exec']> {
    this.#noteChange(args[0]);
    return await super.exec(...args);
  }

  /** A test that ends during a schema change must not break the next file. */
  #noteChange(statement: string): void {
    if (/\b(create|alter|drop)\b/i.test(statement)) this.isMigrated = false;
  }

  override async listen(...args: Parameters<PGlite['listen']>): ReturnType<PGlite['listen']> {
    const end = await super.listen(...args);
    this.#endListening.add(end);
    return async (tx) => {
      this.#endListening.delete(end);
      await end(tx);
    };
  }
}

/** The unused databases. One that failed, or has an open transaction, is not used again. */
const kept: ReusablePglite[] = [];

/** An empty database without schema, in memory. */
export async function openEmptyPglite(clock: Clock): Promise<Store> {
  const database = await takeDatabase('empty');
  const store = new PgliteStore(database, { clock, log: silentLog() });
  await emptySchema(store);
  return store;
}

/** The schema of this release with no rows, in memory. */
export async function openMigratedPglite(clock: Clock): Promise<Store> {
  const database = await takeDatabase('migrated');
  const store = new PgliteStore(database, { clock, log: silentLog() });
  if (database.isMigrated) {
    await store.query(EMPTY_TABLES);
  } else {
    await emptySchema(store);
    await migrate(store, silentLog());
  }
  database.isMigrated = true;
  return store;
}

/** Removes the schema. */
export async function emptySchema(store: Store): Promise<void> {
  await store.query('drop schema public cascade');
  await store.query('create schema public');
}

/** From this size on a table is truncated, because deleted rows stay in its pages. */
const LARGE_BYTES = 1_000_000;

/**
 * Removes the partitions of single days, and all rows of the other tables but what migrations write.
 * Checks each table first, because truncating all of them takes a tenth of a second.
 */
const EMPTY_TABLES = `do $$
declare
  day_table text;
  used_table regclass;
  used_sequence regclass;
  is_used boolean;
begin
  for day_table in
    select inhrelid::regclass::text from pg_inherits join pg_class on oid = inhrelid
    where relkind = 'r'
  loop
    execute 'drop table ' || day_table;
  end loop;
  -- Without checking foreign keys: in the end all tables are empty.
  set local session_replication_role = replica;
  for used_table in
    select oid::regclass from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r'
      and relname not in ('schema_migrations', 'list_epochs')
  loop
    if pg_relation_size(used_table) = 0 then
      continue;
    elsif pg_relation_size(used_table) >= ${LARGE_BYTES} then
      execute format('truncate %s cascade', used_table);
    else
      execute format('delete from %s', used_table);
    end if;
  end loop;
  for used_sequence in
    select oid::regclass from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'S'
  loop
    execute format('select is_called from %s', used_sequence) into is_used;
    if is_used then
      perform setval(used_sequence, (
        select seqstart from pg_sequence where seqrelid = used_sequence), false);
    end if;
  end loop;
end $$`;

async function takeDatabase(wanted: 'empty' | 'migrated'): Promise<ReusablePglite> {
  const fits = kept.findIndex(({ isMigrated }) => isMigrated === (wanted === 'migrated'));
  const [free] = kept.splice(Math.max(0, fits), 1);
  if (free !== undefined) return free;
  const archive = new Blob([readFileSync(inject('pglite').migratedArchive)]);
  const database = new ReusablePglite(archive);
  await database.waitReady;
  return database;
}
