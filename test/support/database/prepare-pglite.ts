import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import type { TestProject } from 'vitest/node';
import { systemClock } from '../../../src/runtime/clock.ts';
import {
  MIGRATIONS_FOLDER,
  migrate,
  readMigrations,
} from '../../../src/service/database/migrate.ts';
import { openStore } from '../../../src/service/database/open-store.ts';
import { onceARun } from '../once-a-run.ts';
import { silentLog, storeConfig } from './silent-store.ts';

declare module 'vitest' {
  interface ProvidedContext {
    pglite: PgliteTemplates;
  }
}

/**
 * Embedded databases for copying: creating one takes seconds, opening a copy tenths of a second.
 */
export interface PgliteTemplates {
  /** DATA_DIR of a service that has started once, without its schema. */
  readonly emptyFolder: string;
  /** DATA_DIR of a service, with the schema of this release. */
  readonly migratedFolder: string;
  /** The files of the migrated database as one archive, for databases in memory. */
  readonly migratedArchive: string;
}

const DAY_MS = 86_400_000;
/** All inputs of the templates besides the migrations. */
const MADE_BY = ['migrate.ts', 'pglite/pglite.ts', 'pglite/data-folder.ts'].map((file) =>
  join(import.meta.dirname, '../../../src/service/database', file),
);
const CACHE = join(import.meta.dirname, '../../../node_modules/.cache/vedette-tests');

/** Makes the templates once per release of PGlite and set of migrations. */
export async function setup(project: TestProject): Promise<void> {
  project.provide('pglite', await onceARun('PGlite templates', prepare));
}

async function prepare(): Promise<PgliteTemplates> {
  const folder = join(CACHE, `pglite-${await fingerprint()}`);
  if (!existsSync(folder)) await make(folder);
  return templatesIn(folder);
}

function templatesIn(folder: string): PgliteTemplates {
  return {
    emptyFolder: join(folder, 'empty'),
    migratedFolder: join(folder, 'migrated'),
    migratedArchive: join(folder, 'migrated.tar'),
  };
}

async function fingerprint(): Promise<string> {
  const entry = createRequire(import.meta.url).resolve('@electric-sql/pglite');
  const { version } = JSON.parse(readFileSync(join(dirname(entry), '../package.json'), 'utf8'));
  const migrations = await readMigrations(MIGRATIONS_FOLDER);
  const hash = createHash('sha256').update(version);
  for (const { name, checksum } of migrations) hash.update(`\n${name} ${checksum}`);
  for (const file of [...MADE_BY, import.meta.filename]) hash.update(readFileSync(file));
  return hash.digest('hex').slice(0, 16);
}

/**
 * The folder appears only when complete: an interrupted run leaves nothing that looks finished, and
 * the second of two concurrent runs uses the first one's templates.
 */
async function make(folder: string): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  const unfinished = mkdtempSync(join(CACHE, 'new-'));
  const { emptyFolder, migratedFolder, migratedArchive } = templatesIn(unfinished);
  const open = (dataDir: string) =>
    openStore(storeConfig({ dataDir }), { clock: systemClock, log: silentLog() });
  await (await open(emptyFolder)).close();
  cpSync(emptyFolder, migratedFolder, { recursive: true });
  const store = await open(migratedFolder);
  await migrate(store, silentLog());
  await store.close();
  const database = await PGlite.create({ dataDir: join(migratedFolder, 'database') });
  const archive = await database.dumpDataDir('none');
  await database.close();
  writeFileSync(migratedArchive, Buffer.from(await archive.arrayBuffer()));
  if (existsSync(folder)) {
    rmSync(unfinished, { recursive: true });
    return;
  }
  removeStale(folder);
  renameSync(unfinished, folder);
}

/**
 * Removes templates of other migrations or releases and the rest of interrupted runs, unless a run
 * may still use them.
 */
function removeStale(folder: string): void {
  for (const name of readdirSync(CACHE)) {
    const path = join(CACHE, name);
    const isOld = Date.now() - statSync(path).mtimeMs > DAY_MS;
    if (isOld && path !== folder) rmSync(path, { recursive: true, force: true });
  }
}
