import { onTestFinished } from 'vitest';
import {
  createErrorReports,
  type ErrorReports,
} from '../../../src/agent/error-reports/error-reports.ts';
import { NOT_SCRUBBED } from '../../../src/agent/secrets/cut-scrubbed.ts';
import { ServiceClient } from '../../../src/agent/service-client/service-client.ts';
import { NO_PROXIES } from '../../../src/runtime/net/proxy/choose-proxy.ts';
import { eventually } from '../eventually.ts';
import { FakeClock } from '../fake-clock.ts';
import { captureLog } from '../log-capture.ts';
import { makeTempFolder } from '../process/temp-folder.ts';
import { UploadService } from './upload-service.ts';

export interface ReportsOptions {
  /** Replaces the test's own folder; null for none. */
  readonly dataDir?: string | null;
  readonly version?: string;
  /** Replaces the fixture's own service and its key. */
  readonly serviceUrl?: URL;
  readonly key?: string;
  /** Replaces the default reporters. */
  readonly reportsOf?: (parts: {
    readonly dataDir: string | null;
    readonly clock: FakeClock;
  }) => ErrorReports;
}

/** A service on a real socket, and a folder for the processes that report to it. */
export async function reportsFixture() {
  const folder = makeTempFolder();
  onTestFinished(folder.remove);
  const service = await UploadService.start();
  return {
    folder,
    service,
    file: folder.file('crash-reports.json'),
    /** One process, whose delays use the test's clock. */
    start: (options: ReportsOptions = {}) =>
      startReports({ dataDir: folder.path, serviceUrl: service.url, ...options }),
  };
}

function startReports(
  options: ReportsOptions & Required<Pick<ReportsOptions, 'dataDir' | 'serviceUrl'>>,
) {
  const { dataDir, serviceUrl, key = 'pl_one', version = '1.2.3' } = options;
  const clock = new FakeClock();
  const { log, records } = captureLog();
  const reports =
    options.reportsOf?.({ dataDir, clock }) ?? createErrorReports({ clock, dataDir, version, log });
  const client = new ServiceClient({
    serviceUrl,
    key: () => key,
    proxies: NO_PROXIES,
    artifactOrigins: [],
    clock,
    version,
    scrub: NOT_SCRUBBED,
  });
  let sending = 0;
  const post: ServiceClient['post'] = async (...request) => {
    sending += 1;
    try {
      return await client.post(...request);
    } finally {
      sending -= 1;
    }
  };
  const ended = new AbortController();
  let running: Promise<void> = Promise.resolve();
  const stop = async (): Promise<void> => {
    ended.abort();
    await running;
  };
  onTestFinished(async () => {
    await stop();
    await client.close();
  });
  return {
    clock,
    reports,
    records,
    run: (): void => {
      running = reports.run({ client: { post }, agentId: 'agent-1' }, ended.signal);
    },
    /**
     * Resolves when the next report waits for its time. A request has its own timer, which a test
     * must not let expire.
     */
    due: () => eventually(() => sending === 0 && clock.pendingTimers > 0),
    /** Resolves when nothing is left to report and no request is in flight. */
    idle: () => eventually(() => sending === 0 && clock.pendingTimers === 0),
    /** Drains, when all runs have ended. */
    drain: async (signal = new AbortController().signal): Promise<void> => {
      await stop();
      await reports.flush(signal);
    },
    stop,
  };
}

/** This many different errors, each thrown at another line of an existing file. */
export function errorsOfKinds(count: number): Error[] {
  const file = new URL('../../../src/agent/daemon.ts', import.meta.url).href;
  return Array.from({ length: count }, (_, n) => {
    const error = new RangeError('no');
    error.stack = `RangeError: no\n    at run (${file}:${n + 1}:1)`;
    return error;
  });
}
