// Makes the database that the first start of a service copies (template.ts) in dist. Does nothing if no input
// has changed: tests build often. A service that starts during a build finds the old archive or the new one.
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { pino } from 'pino';
import { systemClock } from '../../../../dist/runtime/clock.js';
import { MIGRATIONS_FOLDER, migrate } from '../../../../dist/service/database/migrate.js';
import { PgliteStore } from '../../../../dist/service/database/pglite/pglite.js';
import { PARSERS } from '../../../../dist/service/database/values.js';

const TARGET = join(import.meta.dirname, '../../../../dist/service/database/pglite/template');
const ARCHIVE = join(TARGET, 'database.tar.gz');
const STAMP = join(TARGET, '.inputs');

/** The hash of all inputs: this script, the migrations, and the release of PGlite. */
function inputHash() {
  const hash = createHash('sha256').update(readFileSync(import.meta.filename));
  for (const name of readdirSync(MIGRATIONS_FOLDER).sort()) {
    hash.update(`${name}\0`).update(readFileSync(join(MIGRATIONS_FOLDER, name)));
  }
  const entry = createRequire(import.meta.url).resolve('@electric-sql/pglite');
  return hash.update(readFileSync(join(entry, '../../package.json'))).digest('hex');
}

async function makeArchive() {
  const log = pino({ level: 'silent' });
  const database = await PGlite.create({ parsers: PARSERS });
  const store = new PgliteStore(database, { clock: systemClock, log });
  await migrate(store, log);
  // A copy would replay the log of all migrations when it is first opened.
  await database.exec('checkpoint');
  const archive = await database.dumpDataDir('gzip');
  await store.close();
  return Buffer.from(await archive.arrayBuffer());
}

/** The file appears only when it is complete. */
function write(path, content) {
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, content);
  renameSync(unfinished, path);
}

const stamp = inputHash();
if (!existsSync(ARCHIVE) || !existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== stamp) {
  mkdirSync(TARGET, { recursive: true });
  write(ARCHIVE, await makeArchive());
  write(STAMP, stamp);
}
