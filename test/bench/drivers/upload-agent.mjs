// The uploading part of an agent, from dist and in a process of its own: the spool, the artifacts'
// keep, the client and the uploader. Its argument is {dataDir, serviceUrl} as JSON. Each line of
// stdin is a command, each line of stdout its outcome:
//   {"fill": path}                     puts each line of the file into the spool, as a result
//   {"keep": path}                     puts the file into the keep, to be sent as an artifact
//   {"call": times}                    asks the service that often, like an agent at work: V8
//                                      compiles undici's parser of HTTP meanwhile, once, in 30 MB
//   {"drain": records}                 starts the uploader, and waits until that many are accepted
//   {"close": true}                    releases the folder
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { packJson, ServiceClient } from '../../../dist/agent/service-client/service-client.js';
import { openSpool } from '../../../dist/agent/spool/open-spool.js';
import { openArtifactOutbox } from '../../../dist/agent/upload/artifact-outbox.js';
import { Uploader } from '../../../dist/agent/upload/uploader.js';
import { systemClock as clock } from '../../../dist/runtime/clock.js';
import { createLogger } from '../../../dist/runtime/logger.js';
import { resultsResponseSchema } from '../../../dist/wire/v1/results.js';

const { dataDir, serviceUrl } = JSON.parse(process.argv[2]);
const log = createLogger({ level: 'warn', destination: process.stderr, format: 'json' });
const fail = (message) => {
  process.stderr.write(`${message}\n`);
  process.exit(1);
};
const spool = await openSpool(
  { dataDir },
  {
    clock,
    log,
    onDropped: (kind, count) => fail(`${count} of kind ${kind} dropped`),
    onLost: () => {},
  },
);
const outbox = await openArtifactOutbox({ dataDir, spool, clock, log });
const client = new ServiceClient({
  serviceUrl: new URL(serviceUrl),
  key: () => `pl_${'0'.repeat(32)}`,
  proxies: { https: null, http: null, exemptions: [] },
  artifactOrigins: [],
  clock,
  version: '1.2.3',
  scrub: (text) => text,
});
let uploaded = 0;
let onUploaded = () => {};
const uploader = new Uploader({
  spool,
  outbox,
  client,
  agentId: 'agent-1',
  epoch: () => 1,
  clock,
  log,
  onUploaded: (count) => {
    uploaded += count;
    onUploaded();
  },
  onRejected: (kind, count) => fail(`${count} of kind ${kind} refused`),
  lingerMs: 0,
});

async function fill(path) {
  let records = 0;
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const { id } = JSON.parse(line);
    spool.put({ kind: 'result', id, atMs: Date.now(), body: Buffer.from(line) });
    records += 1;
    if (records % 1_000 === 0) await spool.committed();
  }
  await spool.committed();
  return { records };
}

async function keep(path) {
  const about = { resultId: 'result-1', checkId: 'check-1', name: 'capture.pcap' };
  const added = await outbox.addFile({ ...about, contentType: 'application/octet-stream', path });
  if (!added.ok) fail(added.note);
  await spool.committed();
  return { records: 1 };
}

async function call(times) {
  const nothing = await packJson(
    Buffer.from(JSON.stringify({ agentId: 'agent-1', epoch: 1, results: [], missed: [] })),
  );
  const { signal } = new AbortController();
  const options = { schema: resultsResponseSchema, timeoutMs: 10_000, signal, packed: true };
  for (let made = 0; made < times; made += 1) {
    const answer = await client.post('/agent/v1/results', nothing, options);
    if (!answer.ok) fail(answer.fault.message);
  }
  return {};
}

async function drain(records) {
  const ending = new AbortController();
  const target = uploaded + records;
  const all = new Promise((resolve) => {
    onUploaded = () => uploaded >= target && resolve();
  });
  const startMs = performance.now();
  const running = uploader.run(ending.signal);
  await all;
  const tookMs = performance.now() - startMs;
  ending.abort();
  await running;
  if (spool.depth.records > 0) fail(`${spool.depth.records} records are left in the spool`);
  return { tookMs };
}

async function close() {
  await outbox.close();
  await spool.close();
  await client.close();
  return {};
}

process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  let answer;
  if (command.fill !== undefined) answer = await fill(command.fill);
  else if (command.keep !== undefined) answer = await keep(command.keep);
  else if (command.call !== undefined) answer = await call(command.call);
  else if (command.drain !== undefined) answer = await drain(command.drain);
  else answer = await close();
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
