// A mail server in a process of its own that takes each mail after holdMs. Its argument is {holdMs} as
// JSON, its first line of stdout its port. Each line of stdin is a command, each line of stdout what
// became of it:
//   {"url", "key", "body", "mails": n}    posts the update of an incident and waits for its mails:
//                                         {seconds, doubled, lost}, the seconds from the post to the
//                                         last mail
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { SMTPServer } from 'smtp-server';

const { holdMs } = JSON.parse(process.argv[2]);
/** A mail counts as lost after this time, which is longer than the wait before a second retry. */
const PATIENCE_MS = 90_000;
/** A mail that is sent twice arrives again within this time. */
const REST_MS = 3_000;
const LOOK_EVERY_MS = 100;

let receivers = new Map();
let lastMs = 0;

const server = new SMTPServer({
  disabledCommands: ['AUTH', 'STARTTLS'],
  disableReverseLookup: true,
  onData(stream, { envelope }, callback) {
    stream.resume().on('end', () => {
      setTimeout(() => {
        for (const { address } of envelope.rcptTo) {
          receivers.set(address, (receivers.get(address) ?? 0) + 1);
        }
        lastMs = performance.now();
        callback();
      }, holdMs);
    });
  },
});
server.on('error', () => {});

async function measure({ url, key, body, mails }) {
  receivers = new Map();
  const startMs = performance.now();
  lastMs = startMs;
  const answer = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  while (receivers.size < mails && performance.now() - lastMs < PATIENCE_MS) {
    await sleep(LOOK_EVERY_MS);
  }
  const seconds = (lastMs - startMs) / 1000;
  await sleep(REST_MS);
  let came = 0;
  for (const count of receivers.values()) came += count;
  return { seconds, doubled: came - receivers.size, lost: mails - receivers.size };
}

server.listen(0, '127.0.0.1', async () => {
  process.stdout.write(`${server.server.address().port}\n`);
  for await (const line of createInterface({ input: process.stdin })) {
    process.stdout.write(`${JSON.stringify(await measure(JSON.parse(line)))}\n`);
  }
});
