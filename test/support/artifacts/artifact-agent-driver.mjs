// The part of an agent that uploads artifacts (spool, outbox, client, uploader), from dist and in
// its own process, so that its memory can be measured. Argument: {dataDir, serviceUrl, key,
// checkId} as JSON. Each line of stdin is an artifact: {resultId, name, path}. Each line of stdout
// is the outcome of one upload: the outbox's message, and the number of the uploader's waits since
// the start.
import { createInterface } from 'node:readline';
import { ServiceClient } from '../../../dist/agent/service-client/service-client.js';
import { openSpool } from '../../../dist/agent/spool/open-spool.js';
import { openArtifactOutbox } from '../../../dist/agent/upload/artifact-outbox.js';
import { Uploader } from '../../../dist/agent/upload/uploader.js';
import { systemClock as clock } from '../../../dist/runtime/clock.js';
import { createLogger } from '../../../dist/runtime/logger.js';

const { dataDir, serviceUrl, key, checkId } = JSON.parse(process.argv[2]);
const log = createLogger({ level: 'warn', destination: process.stderr, format: 'json' });
const spool = await openSpool(
  { dataDir },
  {
    clock,
    log,
    onDropped: (kind, count) => log.error({ kind, count }, 'dropped'),
    onLost: () => {},
  },
);
const outbox = await openArtifactOutbox({ dataDir, spool, clock, log });
const client = new ServiceClient({
  serviceUrl: new URL(serviceUrl),
  key: () => key,
  proxies: { https: null, http: null, exemptions: [] },
  artifactOrigins: [],
  clock,
  version: '1.2.3',
  scrub: (text) => text,
});
let settle = () => {};
const uploader = new Uploader({
  spool,
  outbox,
  client,
  agentId: 'agent-1',
  epoch: () => 1,
  clock,
  log,
  onUploaded: () => settle('sent'),
  onRejected: () => settle('refused'),
  lingerMs: 0,
  backoff: { minMs: 50, maxMs: 500 },
});
const ending = new AbortController();
const running = uploader.run(ending.signal);

process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  const settled = new Promise((resolve) => {
    settle = resolve;
  });
  const added = await outbox.addFile({
    ...JSON.parse(line),
    checkId,
    contentType: 'application/octet-stream',
  });
  const end = added.ok ? await settled : 'not kept';
  process.stdout.write(`${JSON.stringify({ added, end })}\n`);
}
ending.abort();
await running;
await outbox.close();
await spool.close();
await client.close();
