import { onTestFinished } from 'vitest';
import { NOT_SCRUBBED } from '../../../src/agent/secrets/cut-scrubbed.ts';
import {
  type PostOptions,
  type PostResponse,
  ServiceClient,
} from '../../../src/agent/service-client/service-client.ts';
import type { SpoolOptions } from '../../../src/agent/spool/open-spool.ts';
import type { SpoolKind } from '../../../src/agent/spool/spool.ts';
import { openArtifactOutbox } from '../../../src/agent/upload/artifact-outbox.ts';
import { Uploader } from '../../../src/agent/upload/uploader.ts';
import type { CheckResult } from '../../../src/model/result/result.ts';
import { NO_PROXIES } from '../../../src/runtime/net/proxy/choose-proxy.ts';
import { eventually } from '../eventually.ts';
import { FakeClock } from '../fake-clock.ts';
import { captureLog } from '../log-capture.ts';
import { makeTempFolder } from '../process/temp-folder.ts';
import { wireResult } from '../samples/wire-results.ts';
import { openTestSpool } from './spool.ts';
import { UploadService } from './upload-service.ts';

export interface UploadFixtureOptions extends Partial<SpoolOptions> {
  readonly lingerMs?: number;
  readonly outlivesProcess?: boolean;
  /**
   * Random source of the jitter. The default subtracts a tenth, so no delay equals the request
   * timeout.
   */
  readonly random?: number;
  /** Replaces the fixture's own service and its key. */
  readonly serviceUrl?: URL;
  readonly key?: string;
  /** ARTIFACT_ORIGINS; none by default. */
  readonly artifactOrigins?: string[];
}

/**
 * A real spool in a folder, a service on a real socket, and an uploader between them whose delays
 * use the test's clock.
 */
export async function uploadFixture(options: UploadFixtureOptions = {}) {
  const { lingerMs = 0, random = 0.8, outlivesProcess = false } = options;
  const { serviceUrl, key = 'pl_one', artifactOrigins = [], ...spoolOptions } = options;
  const folder = makeTempFolder();
  const service = await UploadService.start();
  onTestFinished(folder.remove);
  const dataDir = spoolOptions.dataDir === undefined ? folder.path : spoolOptions.dataDir;
  const url = serviceUrl ?? service.url;
  const behaviour = { lingerMs, random, outlivesProcess };
  const uploads = { serviceUrl: url, key, artifactOrigins, ...behaviour };
  const start = () => startAgent({ ...spoolOptions, dataDir }, uploads);
  return { folder, service, start, ...(await start()) };
}

async function startAgent(
  spoolOptions: SpoolOptions,
  uploads: Required<Omit<UploadFixtureOptions, keyof SpoolOptions>>,
) {
  const { serviceUrl, artifactOrigins, lingerMs, random, outlivesProcess } = uploads;
  // The spool uses the system clock, and both date records.
  const clock = new FakeClock(Date.now());
  const { log, records } = captureLog();
  const { spool, dropped } = await openTestSpool(spoolOptions);
  onTestFinished(() => spool.close());
  const outbox = await openArtifactOutbox({ dataDir: spoolOptions.dataDir, spool, clock, log });
  const state = { key: uploads.key, epoch: 3, uploaded: 0 };
  const rejected: (readonly [SpoolKind, number])[] = [];
  const client = new WatchedClient({
    serviceUrl,
    key: () => state.key,
    proxies: NO_PROXIES,
    artifactOrigins,
    clock,
    version: '1.2.3',
    scrub: NOT_SCRUBBED,
  });
  const uploader = new Uploader({
    spool,
    outbox,
    client,
    agentId: 'agent-1',
    epoch: () => state.epoch,
    clock,
    log,
    onUploaded: (count) => {
      state.uploaded += count;
    },
    onRejected: (kind, count) => rejected.push([kind, count]),
    lingerMs,
    outlivesProcess,
    random: () => random,
  });
  const ended = new AbortController();
  let running: Promise<void> | null = null;
  const stop = async (): Promise<void> => {
    ended.abort();
    await running;
    await outbox.close();
    await spool.close();
    await client.close();
  };
  onTestFinished(stop);
  return {
    clock,
    records,
    spool,
    dropped,
    outbox,
    state,
    rejected,
    client,
    uploader,
    stop,
    run: () => {
      running = uploader.run(ended.signal);
      return running;
    },
    /** Resolves with the delay, in milliseconds, when the uploader waits. */
    waitMs: async (): Promise<number> => {
      await eventually(() => backoffOf(clock) !== null);
      return backoffOf(clock) ?? 0;
    },
    empty: () => eventually(() => spool.depth.records === 0),
    /** Puts these results. Resolves with their ids when they are on disk. */
    put: async (...sequences: readonly string[]): Promise<string[]> => {
      const results = sequences.map((sequence) => wireResult(sequence));
      for (const result of results) spool.put(recordOf(result));
      await spool.committed();
      return results.map(({ id }) => id);
    },
  };
}

/** True while a request is in flight. */
class WatchedClient extends ServiceClient {
  #asking = 0;

  get isAsking(): boolean {
    return this.#asking > 0;
  }

  override post<T>(path: string, body: unknown, options: PostOptions<T>): Promise<PostResponse<T>> {
    return this.#during(super.post(path, body, options));
  }

  override put(...args: Parameters<ServiceClient['put']>): ReturnType<ServiceClient['put']> {
    return this.#during(super.put(...args));
  }

  async #during<T>(request: Promise<T>): Promise<T> {
    this.#asking += 1;
    try {
      return await request;
    } finally {
      this.#asking -= 1;
    }
  }
}

/** The delay before the next retry; null if none. A longer timer is the request timeout. */
function backoffOf(clock: FakeClock): number | null {
  const next = clock.nextTimerInMs;
  return next === null || (next >= 60_000 && next !== MISMATCH_WAIT_MS) ? null : next;
}
const MISMATCH_WAIT_MS = 300_000;

export function recordOf(result: CheckResult) {
  return {
    kind: result.resultType === 'ATTEMPT' ? ('attempt' as const) : ('result' as const),
    id: result.id,
    atMs: Date.now(),
    body: Buffer.from(JSON.stringify(result)),
  };
}
