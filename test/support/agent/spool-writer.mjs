// Writes to a spool until it is killed: puts, commits, reads and accepts. Prints each step to
// stdout before the next one begins. Arguments: folder, first number.
import { writeSync } from 'node:fs';
import { openSpool } from '../../../dist/agent/spool/open-spool.js';
import { systemClock } from '../../../dist/runtime/clock.js';
import { createLogger } from '../../../dist/runtime/logger.js';

const [, , dataDir, first] = process.argv;
const KINDS = ['result', 'attempt', 'missed', 'artifact-note'];
const log = createLogger({ level: 'error', destination: process.stderr, format: 'json' });
const say = (word, ids) => writeSync(1, `${word} ${ids.join(' ')}\n`);

const spool = await openSpool(
  { dataDir, commitDelayMs: 1 },
  { clock: systemClock, log, onDropped: (kind) => say('dropped', [kind]), onLost: () => {} },
);

async function write() {
  for (let n = Number(first); ; ) {
    const ids = [];
    for (let count = 1 + (n % 40); count > 0; count -= 1, n += 1) {
      const body = Buffer.from(JSON.stringify({ n }).padEnd(1000 + ((n * 7919) % 19_000)));
      spool.put({ kind: KINDS[n % 4], id: `${n}`, atMs: Date.now(), body });
      ids.push(n);
    }
    say('putting', ids);
    await spool.committed();
    say('committed', ids);
  }
}

async function read() {
  for (;;) {
    await spool.available(new AbortController().signal);
    const records = await spool.batch(300_000);
    // Leave some behind, as if the service had not answered for them.
    const some = records.filter(({ id }) => Number(id) % 7 !== 0);
    const ids = some.map(({ id }) => id);
    say('accepting', ids);
    await spool.accepted(some.map(({ key }) => key));
    say('accepted', ids);
    if (some.length === 0) await spool.committed();
  }
}

await Promise.all([write(), read()]);
