import { EventEmitter, once } from 'node:events';
import { onTestFinished } from 'vitest';
import { createFileBackend } from '../../../src/agent/backend/file-backend.ts';
import { loadConfig } from '../../../src/agent/config/agent-config.ts';
import { Daemon } from '../../../src/agent/daemon.ts';
import { createMetrics } from '../../../src/agent/metrics/metrics.ts';
import { createRunTools } from '../../../src/agent/run/run-tools.ts';
import type { WaitingLimit } from '../../../src/agent/scheduler/permits/waiting-limit.ts';
import type { CheckListener, CheckSet } from '../../../src/agent/source/check-source.ts';
import type { Check } from '../../../src/model/check/check.ts';
import type { MissedSlots } from '../../../src/model/result/missed-slots.ts';
import type { CheckResult } from '../../../src/model/result/result.ts';
import { StopSignals } from '../../../src/runtime/lifecycle.ts';
import { FakeClock } from '../fake-clock.ts';
import { captureLog } from '../log-capture.ts';
import { EMPTY_SECRETS } from '../samples/secrets.ts';
import { listenTcp } from '../servers/tcp-servers.ts';

interface DaemonFixtureOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly waiting?: WaitingLimit;
}

/** A daemon with its own clock, whose checks connect to a real target. Ends with the test. */
export async function startDaemon({ env = {}, waiting }: DaemonFixtureOptions = {}) {
  const { log, records } = captureLog();
  const clock = new FakeClock();
  const target = await listenTcp((socket) => socket.end());
  onTestFinished(() => target.close());
  const results: CheckResult[] = [];
  const missed: MissedSlots[] = [];
  const watched = new EventEmitter();
  const signals = new EventEmitter();
  const stop = new StopSignals({ emitter: signals, clock, graceMs: 0, log });
  const config = loadConfig({ CHECKS_FILE: 'unused', AGENT_HEALTH_PORT: '0', ...env });
  const tools = createRunTools({
    config,
    clock,
    log,
    clientCertificates: () => [],
    proxyUrl: () => null,
    secrets: EMPTY_SECRETS,
    traceSalt: null,
    starvation: { threadDelay: null, sockets: null, loopIdleMs: null },
  });
  const sink = {
    result: (result: CheckResult) => void results.push(result),
    missed: (slots: MissedSlots) => void missed.push(slots),
    flush: async () => {},
  };
  const source = {
    checkFileUsable: null,
    watch: async (listener: CheckListener, signal: AbortSignal): Promise<void> => {
      watched.emit('listener', listener);
      await once(signal, 'abort');
    },
  };
  const metrics = createMetrics({ version: '1.2.3' });
  const daemon = new Daemon({
    config,
    waiting: waiting ?? { runs: 100, remedy: '' },
    clock,
    log,
    metrics,
    backend: createFileBackend({ source, sink }),
    tools: tools.parts,
    secrets: EMPTY_SECRETS,
    evidence: null,
    ready: Promise.resolve(),
  });
  const watching = once(watched, 'listener') as Promise<[CheckListener]>;
  const ended = daemon.run(stop);
  onTestFinished(async () => {
    signals.emit('SIGTERM');
    await ended;
    await tools.close();
    stop.dispose();
  });
  const [listener] = await watching;
  const request = { port: target.port };
  return { clock, daemon, listener, logRecords: records, metrics, missed, results, request };
}

/** Replaces all checks by these. */
export function checkSetOf(checks: readonly Check[]): CheckSet {
  return {
    checks,
    clientCertificates: [],
    rotations: new Map(),
    variables: [],
    proxyUrl: null,
    location: 'office',
    unanswered: new Map(),
    pauses: [],
    groupTags: new Map(),
  };
}
