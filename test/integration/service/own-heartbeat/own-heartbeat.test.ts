import { describe, expect, it, onTestFinished } from 'vitest';
import { NO_PROXIES } from '../../../../src/runtime/net/proxy/choose-proxy.ts';
import { readProxies } from '../../../../src/runtime/net/proxy/proxy-variables.ts';
import {
  createOwnHeartbeat,
  type HeartbeatResult,
  type OwnHeartbeat,
} from '../../../../src/service/own-heartbeat/own-heartbeat.ts';
import { FakeClock, settle } from '../../../support/fake-clock.ts';
import { captureLog } from '../../../support/log-capture.ts';
import { hookServer, statuses } from '../../../support/servers/hook-server.ts';
import { httpProxy } from '../../../support/servers/http-proxy.ts';

const MINUTE_MS = 60_000;

/** A database that can be made to fail, to hang and to refuse results. */
interface Database {
  answers: () => Promise<readonly never[]>;
  takesResults: boolean;
}

function start(url: string, method: 'GET' | 'POST' = 'GET', proxies = NO_PROXIES) {
  const clock = new FakeClock();
  const logs = captureLog();
  const database: Database = { answers: async () => [], takesResults: true };
  const heartbeat = createOwnHeartbeat({
    store: { query: () => database.answers() },
    clock,
    log: logs.log,
    takesResults: async () => database.takesResults,
    config: { url, method },
    proxies,
  });
  const stopping = new AbortController();
  const ended = heartbeat.maintain(stopping.signal);
  onTestFinished(async () => {
    stopping.abort();
    await ended;
    expect(clock.pendingTimers).toBe(0);
  });
  return { clock, logs, database, heartbeat };
}

async function when(
  { counts }: OwnHeartbeat,
  wanted: Partial<Record<HeartbeatResult, number>>,
): Promise<void> {
  const isThere = (): boolean =>
    Object.entries(wanted).every(([result, count]) => counts[result as HeartbeatResult] === count);
  while (!isThere()) await settle();
}

describe('the heartbeat of the service', () => {
  it('requests the URL each minute', async () => {
    const server = await hookServer();
    const { clock, heartbeat } = start(server.url, 'POST');
    await when(heartbeat, { sent: 1 });
    await clock.advance(MINUTE_MS - 1_000);
    expect(server.requests).toHaveLength(1);
    await clock.advance(1_000);
    await when(heartbeat, { sent: 2 });
    expect(server.requests).toMatchObject([
      { method: 'POST', path: '/hook', body: '' },
      { method: 'POST', path: '/hook', body: '' },
    ]);
  });

  it('requests the URL through the proxy', async () => {
    const server = await hookServer();
    const proxy = await httpProxy();
    const url = `http://monitor.test:${server.port}/beat`;
    const { heartbeat } = start(url, 'GET', readProxies({ HTTP_PROXY: proxy.url() }));
    await when(heartbeat, { sent: 1 });
    expect(server.requests).toMatchObject([{ method: 'GET', path: '/beat' }]);
    expect(proxy.requests).toMatchObject([{ target: url }]);
  });

  it('stops while the database fails, hangs or refuses results', async () => {
    const server = await hookServer();
    const { clock, database, heartbeat, logs } = start(server.url);
    await when(heartbeat, { sent: 1 });
    database.answers = async () => {
      throw new Error('the connection was refused');
    };
    await clock.advance(MINUTE_MS);
    await when(heartbeat, { skipped: 1 });
    database.answers = () => new Promise(() => {});
    await clock.advance(MINUTE_MS + 10_000);
    await when(heartbeat, { skipped: 2 });
    database.answers = async () => [];
    database.takesResults = false;
    await clock.advance(MINUTE_MS);
    await when(heartbeat, { skipped: 3 });
    expect(server.requests).toHaveLength(1);
    database.takesResults = true;
    await clock.advance(MINUTE_MS);
    await when(heartbeat, { sent: 2 });
    expect(logs.records().map(({ msg }) => msg)).toEqual([
      'HEARTBEAT_URL is not requested: the database does not answer: the connection was refused',
      'HEARTBEAT_URL is requested again',
    ]);
  });

  it('counts failures, logs them once an hour, and never logs the path of the URL', async () => {
    const server = await hookServer(statuses(500));
    const { clock, heartbeat, logs } = start(server.url);
    for (let failed = 1; failed <= 61; failed += 1) {
      await when(heartbeat, { failed });
      await clock.advance(MINUTE_MS);
    }
    expect(logs.records()).toMatchObject([
      { msg: 'the request to HEARTBEAT_URL failed: the answer was the status 500', count: 1 },
      { msg: 'the request to HEARTBEAT_URL failed: the answer was the status 500', count: 60 },
    ]);
    expect(JSON.stringify(logs.records())).not.toContain('/hook');
    expect(heartbeat.counts.sent).toBe(0);
  });
});
