import { EventEmitter, once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { createFileBackend } from '../../../src/agent/backend/file-backend.ts';
import { type Environment, loadConfig } from '../../../src/agent/config/agent-config.ts';
import { NO_REPORTS } from '../../../src/agent/error-reports/disabled-reports.ts';
import { runAgent } from '../../../src/agent/main.ts';
import type { CheckListener, CheckSource } from '../../../src/agent/source/check-source.ts';
import type { Check } from '../../../src/model/check/check.ts';
import type { CheckResult } from '../../../src/model/result/result.ts';
import { traceIdOf } from '../../../src/model/result/trace-context.ts';
import { StopSignals } from '../../../src/runtime/lifecycle.ts';
import type { OneOff } from '../../../src/wire/v1/assignment.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { captureLog } from '../../support/log-capture.ts';
import { checkOf } from '../../support/samples/checks.ts';
import { EMPTY_SECRETS } from '../../support/samples/secrets.ts';
import { listenOtlp } from '../../support/servers/otlp/receiver.ts';
import { listenTcp } from '../../support/servers/tcp-servers.ts';

/** Passes on checks when the test says so, and ignores its stop, like a file on a dead mount. */
class StuckSource implements CheckSource {
  readonly checkFileUsable = null;
  give: (...checks: Check[]) => void = () => {};
  ask: (check: Check) => void = () => {};
  readonly events = new EventEmitter();

  watch({ onChecks, onRun }: CheckListener): Promise<void> {
    this.events.emit('watched');
    this.give = (...checks) =>
      onChecks({
        checks,
        clientCertificates: [],
        rotations: new Map(),
        location: 'local',
        unanswered: new Map(),
        variables: [],
        proxyUrl: null,
        pauses: [],
        groupTags: new Map(),
      });
    this.ask = (check) => onRun(oneOffOf(check));
    return new Promise(() => {});
  }
}

/** A one-off run, due at once. */
function oneOffOf(check: Check): OneOff {
  return {
    runId: 'run-1',
    check,
    reason: 'requested',
    slot: 1,
    sequenceId: 'sequence-1',
    notBefore: null,
    notAfter: Date.now() + 60_000,
    retriesMade: 0,
    firstStartedAt: null,
  };
}

/** The whole agent, with the results that it reports. */
async function startAgent(env: Environment = {}) {
  const { log } = captureLog();
  const signals = new EventEmitter();
  const stop = new StopSignals({ emitter: signals, clock: new FakeClock(), graceMs: 1000, log });
  const source = new StuckSource();
  const lines = new EventEmitter();
  const listening = new EventEmitter();
  const ended = runAgent({
    config: loadConfig({
      ...{ CHECKS_FILE: 'unused', AGENT_HEALTH_PORT: '0', EVIDENCE: 'off' },
      ...env,
    }),
    openBackend: async () =>
      createFileBackend({
        source,
        sink: {
          result: (result) => void lines.emit('result', result),
          missed: (missed) => void lines.emit('missed', missed),
          flush: async () => {},
        },
      }),
    log,
    secrets: EMPTY_SECRETS,
    reports: NO_REPORTS,
    stop,
    onListening: (port) => void listening.emit('port', port),
  });
  onTestFinished(async () => {
    signals.emit('SIGTERM');
    await ended;
    stop.dispose();
  });
  const watched = once(source.events, 'watched');
  const [port] = (await once(listening, 'port')) as [number];
  await watched;
  const metrics = async (): Promise<string> =>
    (await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { connection: 'close' } })).text();
  return { signals, source, lines, ended, metrics };
}

it('drains at the first signal, also where the source does not end', async () => {
  const { signals, source, ended } = await startAgent();
  source.give();
  signals.emit('SIGTERM');
  await ended;
  source.give(checkOf('TCP'));
});

it('ends at a signal even while it is starting', async () => {
  const { log } = captureLog();
  const signals = new EventEmitter();
  const stop = new StopSignals({ emitter: signals, clock: new FakeClock(), graceMs: 1000, log });
  onTestFinished(() => stop.dispose());
  const opening = new EventEmitter();
  const asked = once(opening, 'asked');
  const ended = runAgent({
    config: loadConfig({ CHECKS_FILE: 'unused', AGENT_HEALTH_PORT: '0', EVIDENCE: 'off' }),
    openBackend: () => {
      opening.emit('asked');
      return new Promise(() => {});
    },
    log,
    secrets: EMPTY_SECRETS,
    reports: NO_REPORTS,
    stop,
    onListening: () => {},
  });
  await asked;
  signals.emit('SIGTERM');
  await ended;
});

it('has metrics of the checks that are activated, and of no other', async () => {
  const server = await listenTcp((socket) => socket.end());
  onTestFinished(() => server.close());
  const { source, lines, metrics } = await startAgent();
  const check = checkOf('TCP', { id: 'db', frequency: 1440, request: { port: server.port } });
  const judged = once(lines, 'result');
  source.give(check, checkOf('TCP', { id: 'off', activated: false }));
  source.ask(check);
  await judged;
  expect(await metrics()).toMatch(/^vedette_check_up\{check_id="db".*\} 1$/m);
  expect(await metrics()).toMatch(/^vedette_checks 1$/m);

  source.give({ ...check, activated: false });
  const text = await metrics();
  expect(text).not.toContain('check_id="db"');
  expect(text).toMatch(/^vedette_checks 0$/m);
});

it('exports metrics and spans of its runs by OTLP, the last ones when it stops', async () => {
  const receiver = await listenOtlp();
  onTestFinished(() => receiver.close());
  const server = await listenTcp((socket) => socket.end());
  onTestFinished(() => server.close());
  const { source, lines, signals, ended } = await startAgent({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint,
    OTLP_TRACES: 'on',
  });
  const check = checkOf('TCP', { id: 'db', frequency: 1440, request: { port: server.port } });
  const judged = once(lines, 'result');
  source.give(check);
  source.ask(check);
  const [{ sequenceId }] = (await judged) as [CheckResult];
  signals.emit('SIGTERM');
  await ended;

  expect(receiver.faults).toEqual([]);
  const up = receiver.points.filter(({ metric }) => metric === 'vedette_check_up');
  expect(up).toMatchObject([{ attributes: { check_id: 'db' }, value: 1 }]);
  const span = receiver.spans.find(({ name }) => name === 'TCP db');
  expect(span).toBeDefined();
  // Another agent of the same file has the same sequence ids.
  expect(span?.traceId).not.toBe(traceIdOf(sequenceId));
  expect(receiver.resource).toMatchObject({ 'service.name': 'vedette-agent' });
});
