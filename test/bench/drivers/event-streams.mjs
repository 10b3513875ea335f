// Clients of event streams, in their own process. Its argument is {origin, databaseUrl, accounts:
// [{accountId, apiKey}], streams} as JSON: how many streams each account has. Its first line says that
// all are open. Each line of stdin is a command, each line of stdout its outcome:
//   {"commits": n}    n transactions, each with an event of every account; the milliseconds from
//                     sending the commit until each of the streams has it
import { request } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const { origin, databaseUrl, accounts, streams } = JSON.parse(process.argv[2]);
/** The pause between two commits. */
const PAUSE_MS = 50;
const database = new pg.Client({ connectionString: databaseUrl });
let sentMs = 0;
let tookMs = [];
let allHaveIt = () => {};

function onEvents(count) {
  const ms = performance.now() - sentMs;
  for (let event = 0; event < count; event += 1) tookMs.push(ms);
  if (tookMs.length >= accounts.length * streams) allHaveIt();
}

/** Resolves when the stream has begun. */
async function open(apiKey) {
  const response = await new Promise((resolve, reject) => {
    const asked = request(
      new URL('/v1/events', origin),
      {
        agent: false,
        headers: { authorization: `Bearer ${apiKey}`, accept: 'text/event-stream' },
      },
      resolve,
    );
    asked.on('error', reject);
    asked.end();
  });
  if (response.statusCode !== 200) throw new Error(`a stream was answered ${response.statusCode}`);
  response.setEncoding('latin1');
  response.on('close', () => {
    throw new Error('a stream ended');
  });
  await new Promise((resolve) => {
    response.on('data', (text) => {
      resolve();
      // The text of an event is short, so it comes in one piece.
      const events = text.split('\nevent: ').length - 1;
      if (events > 0) onEvents(events);
    });
  });
}

async function commits(count) {
  const all = [];
  for (let commit = 0; commit < count; commit += 1) {
    tookMs = [];
    const done = new Promise((resolve) => {
      allHaveIt = resolve;
    });
    await database.query('begin');
    for (const { accountId } of accounts) {
      await database.query("select record_event($1, 'check.updated', 'bench', '{}')", [accountId]);
    }
    sentMs = performance.now();
    await Promise.all([database.query('commit'), done]);
    all.push(...tookMs);
    await sleep(PAUSE_MS);
  }
  return all;
}

await database.connect();
for (const { apiKey } of accounts) {
  for (let opened = 0; opened < streams; opened += 20) {
    const next = Math.min(20, streams - opened);
    await Promise.all(Array.from({ length: next }, () => open(apiKey)));
  }
}
process.stdout.write('open\n');
for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  process.stdout.write(`${JSON.stringify(await commits(command.commits))}\n`);
}
