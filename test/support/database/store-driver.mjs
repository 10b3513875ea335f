// Opens the embedded database of a folder in its own process. Arguments: folder, mode. Prints
// `open` or the error's code and message. In mode `write` it commits one row after the other and
// prints each number after its commit, until it is killed.
import { setImmediate } from 'node:timers/promises';
import { systemClock } from '../../../dist/runtime/clock.js';
import { createLogger } from '../../../dist/runtime/logger.js';
import { openStore } from '../../../dist/service/database/open-store.js';

const [, , dataDir, mode] = process.argv;
const log = createLogger({ level: 'info', destination: process.stderr, format: 'json' });
const config = { databaseUrl: null, dataDir, poolSize: 1, statementTimeoutMs: 10_000 };
try {
  const store = await openStore(config, { clock: systemClock, log });
  console.log('open');
  if (mode === 'write') {
    await store.query('create table if not exists written (n int primary key)');
    const [{ last }] = await store.query('select coalesce(max(n), 0) as last from written');
    for (let n = last + 1; ; n += 1) {
      await store.transaction((tx) => tx.query('insert into written values ($1)', [n]));
      console.log(`wrote ${n}`);
      await setImmediate();
    }
  }
  if (mode === 'once') await store.close();
} catch (error) {
  console.log(`failed ${error.code} ${error.message}`);
}
