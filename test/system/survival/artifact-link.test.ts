import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { truncateSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { createServer, get } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { NOT_SCRUBBED } from '../../../src/agent/secrets/cut-scrubbed.ts';
import { ServiceClient } from '../../../src/agent/service-client/service-client.ts';
import { SpoolSink } from '../../../src/agent/spool/spool-sink.ts';
import { openArtifactOutbox } from '../../../src/agent/upload/artifact-outbox.ts';
import { Uploader } from '../../../src/agent/upload/uploader.ts';
import type { CheckResult } from '../../../src/model/result/result.ts';
import { lastOwnSlotAt } from '../../../src/model/schedule/rotation.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { NO_PROXIES } from '../../../src/runtime/net/proxy/choose-proxy.ts';
import { DEFAULT_PART_BYTES } from '../../../src/service/object-store/artifact-store.ts';
import { MAX_ARTIFACT_BYTES, PATHS } from '../../../src/wire/v1/limits.ts';
import { metricsOf } from '../../support/agent/agent-metrics.ts';
import { runFixture } from '../../support/agent/run-fixture.ts';
import { openTestSpool } from '../../support/agent/spool.ts';
import { startArtifactAgent } from '../../support/artifacts/artifact-agent.ts';
import type { DatabaseKind } from '../../support/database/databases.ts';
import { newDatabase } from '../../support/database/new-database.ts';
import { captureLog } from '../../support/log-capture.ts';
import { databasesToTest } from '../../support/nightly.ts';
import { watchMemory } from '../../support/process/process-memory.ts';
import { lacking } from '../../support/process/system-needs.ts';
import { makeTestFolder } from '../../support/process/test-folder.ts';
import { checkOf } from '../../support/samples/checks.ts';
import { cuttingRelay } from '../../support/servers/cutting-relay.ts';
import { listening } from '../../support/servers/tcp-servers.ts';
import { download } from '../../support/service/artifact-service.ts';
import {
  type RunningService,
  startAgent,
  startService,
  until,
} from '../../support/service/deployment.ts';
import { resultOfRun } from '../../support/service/results-fixture.ts';

const MIB = 1024 * 1024;
const MAX_GROWTH_BYTES = 32 * MIB;
/** Positions within parts: the first, the last and others between. */
const CUTS = [0.4, 3.7, 0.2, 9.5, 3.6].map((parts) => Math.round(parts * DEFAULT_PART_BYTES));
/** Requests without a part: heads, beginnings, the completion. */
const OTHER_BYTES = 64 * 1024;
/**
 * V8 frees the read buffers of sockets and files only after tens of MiB, however small the data
 * was. This much is not a growth with the file.
 */
const WARM_UPS = 3;
const missing = lacking({ commands: [], files: ['/proc/self/clear_refs'] });

describe.skipIf(missing !== null).each(databasesToTest('postgres'))(
  `artifacts, on %s${missing === null ? '' : ` (lacks ${missing})`}`,
  (kind) => {
    it('150 MB over a connection that is cut five times arrive whole, in bounded memory', async () => {
      const { service, key, slug, checkId } = await deploy(kind);
      const slot = await lastSlotGiven(service, key);
      const result = resultOfRun({ checkId, runLocation: slug, slot });
      await bringResult(service, key, result);
      const folder = makeTestFolder();
      const relay = await cuttingRelay(service.port);
      const dataDir = join(folder, 'agent');
      const agent = await startArtifactAgent({ dataDir, serviceUrl: relay.url, key, checkId });
      for (let number = 0; number < WARM_UPS; number += 1) {
        const small = join(folder, `small-${number}`);
        await makeFile(small, 12 * MIB);
        expect(await agent.send(`small-${number}`, small)).toMatchObject({ end: 'sent' });
      }
      const large = join(folder, 'large');
      const sha256 = await makeFile(large, MAX_ARTIFACT_BYTES);

      const memory = { agent: watchMemory(agent.pid), service: watchMemory(service.pid) };
      const before = relay.passedBytes;
      relay.cutAfter(CUTS);
      const { added, end } = await agent.send(result.id, large);
      expect([end, relay.cuts]).toEqual(['sent', CUTS.length]);
      const again = relay.passedBytes - before - MAX_ARTIFACT_BYTES;
      // For each cut, only the part that was cut is sent again.
      expect(again).toBeLessThan(CUTS.length * DEFAULT_PART_BYTES + OTHER_BYTES);
      const asset = added.ok ? added.asset : '';
      expect(await digestOf(service, asset)).toEqual({ bytes: MAX_ARTIFACT_BYTES, sha256 });
      const growth = {
        agent: memory.agent.peakGrowthBytes(),
        service: memory.service.peakGrowthBytes(),
      };
      expect(growth.agent).toBeLessThan(MAX_GROWTH_BYTES);
      expect(growth.service).toBeLessThan(MAX_GROWTH_BYTES);
      const listed = await service.ask(`/v1/check-results/${checkId}/${result.id}/artifacts`);
      expect(listed.json).toMatchObject([{ sha256, bytes: MAX_ARTIFACT_BYTES, url: asset }]);
    });

    it('150 MB and one byte are refused with the limit, and the result says so', async () => {
      const { service, key, slug, checkId } = await deploy(kind);
      const begin = (bytes: number) =>
        service.ask(PATHS.artifacts, {
          method: 'POST',
          key,
          headers: { 'x-agent-protocol': '1' },
          body: {
            resultId: 'a-result',
            checkId,
            name: 'capture.pcap',
            contentType: 'application/octet-stream',
            bytes,
            sha256: '0'.repeat(64),
          },
        });
      expect((await begin(MAX_ARTIFACT_BYTES)).status).toBe(200);
      const over = await begin(MAX_ARTIFACT_BYTES + 1);
      expect([over.status, over.json]).toMatchObject([
        413,
        { statusCode: 413, attributes: { limitBytes: MAX_ARTIFACT_BYTES } },
      ]);

      const { url } = await failingTarget('x'.repeat(30_000));
      const check = checkOf('API', { id: checkId, request: { url }, retryStrategy: null });
      const log = captureLog();
      const agent = await agentParts({ service, key, slug, log });
      // The fastest file of this size to create. It is refused unread.
      const path = join(makeTestFolder(), 'too-large');
      await makeFile(path, 1);
      truncateSync(path, MAX_ARTIFACT_BYTES + 1);
      const fixture = runFixture({
        clock: systemClock,
        parts: {
          location: () => slug,
          sink: agent.sink,
          // No body is read so far; captures will be files.
          artifacts: { add: (artifact) => agent.outbox.addFile({ ...artifact, path }) },
        },
      });
      await fixture.run(check, undefined, { slotMs: await lastSlotGiven(service, key) });
      await agent.flush();
      const { json } = await service.ask(`/v1/check-results/${checkId}`);
      expect(json).toHaveLength(1);
      expect(json[0].apiCheckResult).toMatchObject({ jobAssets: [] });
      expect(json[0].apiCheckResult.jobLog).toContainEqual({
        time: expect.any(Number),
        level: 'warn',
        msg: `The artifact response-body (${MAX_ARTIFACT_BYTES + 1} bytes) is not kept: the limit is ${MAX_ARTIFACT_BYTES} bytes`,
      });
      expect(log.records()).toEqual([]);
    });

    it('the long body of a failed check can be downloaded, whole and in ranges', async () => {
      const body = Array.from({ length: 1500 }, (_, n) => `${n}: “ungültig”\r\n`).join('');
      const bytes = Buffer.from(body);
      expect(bytes.length).toBeGreaterThan(30_000);
      const { url } = await failingTarget(body);
      const { service, key, checkId } = await deploy(kind, { url });
      const agent = await startAgent({ serviceUrl: service.url, key, dataDir: makeTestFolder() });
      // The result, and its artifact.
      await until(
        () => metricsOf(agent),
        (metric) => metric('vedette_uploaded_total') >= 2 && metric('vedette_spool_records') === 0,
      );
      const [result] = (await service.ask(`/v1/check-results/${checkId}`)).json;
      expect(result).toMatchObject({
        hasFailures: true,
        apiCheckResult: {
          response: { status: 500, bodyCut: true, bodyBytes: bytes.length },
          jobAssets: [expect.stringMatching(/^\/v1\/artifacts\/[0-9a-f-]{36}$/)],
        },
      });
      const [asset] = result.apiCheckResult.jobAssets;
      const load = (range?: string) =>
        download(service.port, asset, {
          key: service.apiKey,
          headers: range === undefined ? {} : { range },
        });
      const whole = await load();
      expect([whole.status, whole.body.equals(bytes)]).toEqual([200, true]);
      expect(whole.headers['content-type']).toBe('text/plain; charset=utf-8');
      const last = bytes.length - 1;
      for (const [range, from, to] of [
        ['bytes=0-0', 0, 0],
        ['bytes=5000-20000', 5000, 20_000],
        ['bytes=20001-', 20_001, last],
        ['bytes=-7', last - 6, last],
      ] as const) {
        const part = await load(range);
        expect([part.status, part.headers['content-range']]).toEqual([
          206,
          `bytes ${from}-${to}/${bytes.length}`,
        ]);
        expect(part.body.equals(bytes.subarray(from, to + 1))).toBe(true);
      }
      expect((await load(`bytes=${bytes.length}-`)).status).toBe(416);
      expect((await service.ask(asset, { key: null })).status).toBe(401);
    });
  },
);

/** A service with a location, and one check of it that fails with this answer of `url`. */
async function deploy(kind: DatabaseKind, { url = 'http://127.0.0.1:9/' } = {}) {
  const database = await newDatabase(kind);
  const env = 'dataDir' in database ? {} : { DATA_DIR: makeTestFolder() };
  const service = await startService({ ...database, env });
  const { key, slug } = await service.addLocation('cellar');
  const checkId = await service.addCheck('api', {
    name: 'a check',
    frequency: 0,
    frequencyOffset: 10,
    privateLocations: [slug],
    retryStrategy: { type: 'NO_RETRIES' },
    request: { method: 'GET', url },
  });
  return { service, key, slug, checkId };
}

/** Artifacts are visible once their result is stored. */
async function bringResult(service: RunningService, key: string, result: CheckResult) {
  const { json } = await service.ask(PATHS.results, {
    method: 'POST',
    key,
    headers: { 'x-agent-protocol': '1' },
    body: { agentId: 'agent-1', epoch: 1, results: [result], missed: [] },
  });
  expect(json).toEqual({ accepted: [result.id], rejected: [], deferred: [] });
}

/** Polls as an agent until the location has the check. @returns its latest slot */
async function lastSlotGiven(service: RunningService, key: string): Promise<number> {
  const { json } = await until(
    () =>
      service.ask(PATHS.poll, {
        method: 'POST',
        key,
        headers: { 'x-agent-protocol': '1' },
        body: {
          agentId: 'agent-1',
          instanceId: 'instance-1',
          version: '1',
          capabilities: { types: ['API'], ipv6: false, icmp: false, capture: false },
          concurrency: 1,
          load: { running: 0, queued: 0 },
          revision: 0,
          epoch: 0,
          page: null,
          done: [],
        },
      }),
    (reply) => reply.json?.upsert?.length > 0,
  );
  return lastOwnSlotAt(json.upsert[0].slots, Date.now());
}

async function failingTarget(body: string): Promise<{ readonly url: string }> {
  const target = await listening(
    createServer((_request, response) => {
      response.writeHead(500, { 'content-type': 'text/plain; charset=utf-8' }).end(body);
    }),
  );
  onTestFinished(() => target.close());
  return { url: `http://127.0.0.1:${target.port}/` };
}

/** The parts of an agent that upload results and artifacts, in this process. */
async function agentParts(options: {
  readonly service: RunningService;
  readonly key: string;
  readonly slug: string;
  readonly log: ReturnType<typeof captureLog>;
}) {
  const { service, key, slug } = options;
  const { log } = options.log;
  const clock = systemClock;
  const dataDir = makeTestFolder();
  const { spool } = await openTestSpool({ dataDir });
  const outbox = await openArtifactOutbox({ dataDir, spool, clock, log });
  const client = new ServiceClient({
    serviceUrl: new URL(service.url),
    key: () => key,
    proxies: NO_PROXIES,
    artifactOrigins: [],
    clock,
    version: '1.2.3',
    scrub: NOT_SCRUBBED,
  });
  onTestFinished(async () => {
    await outbox.close();
    await spool.close();
    await client.close();
  });
  const uploader = new Uploader({
    spool,
    outbox,
    client,
    agentId: 'agent-1',
    epoch: () => 1,
    clock,
    log,
    onUploaded: () => {},
    onRejected: () => {},
  });
  return {
    outbox,
    sink: new SpoolSink({ spool, alsoTo: null, clock, log, location: () => slug }),
    async flush() {
      await spool.committed();
      await uploader.flush(new AbortController().signal);
    },
  };
}

/** A random file; resolves with its digest. */
async function makeFile(path: string, bytes: number): Promise<string> {
  const hash = createHash('sha256');
  const handle = await open(path, 'wx');
  try {
    for (let made = 0; made < bytes; made += MIB) {
      const piece = randomBytes(Math.min(MIB, bytes - made));
      hash.update(piece);
      await handle.write(piece);
    }
  } finally {
    await handle.close();
  }
  return hash.digest('hex');
}

/** From the API. */
async function digestOf(service: RunningService, asset: string) {
  const headers = { authorization: `Bearer ${service.apiKey}` };
  const [response] = await once(get(`${service.url}${asset}`, { headers }), 'response');
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of response) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}
