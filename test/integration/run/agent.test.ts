import { EventEmitter, once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '../../../src/agent/config.ts';
import { runAgent } from '../../../src/agent/main.ts';
import type { CheckSet, CheckSource } from '../../../src/agent/source/check-source.ts';
import type { Check } from '../../../src/model/check.ts';
import { StopSignals } from '../../../src/runtime/lifecycle.ts';
import { checkOf } from '../../support/checks.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { captureLog } from '../../support/log-capture.ts';
import { listenTcp } from '../../support/tcp-servers.ts';

/** Gives sets when it is told to, and takes no notice of being stopped: a file on a dead mount. */
class StuckSource implements CheckSource {
  readonly checkFileUsable = null;
  give: (...checks: Check[]) => void = () => {};
  readonly events = new EventEmitter();

  watch(onCheckSet: (set: CheckSet) => void): Promise<void> {
    this.events.emit('watched');
    this.give = (...checks) => onCheckSet({ checks, clientCertificates: [] });
    return new Promise(() => {});
  }
}

/** The whole agent, with each check run at once and the results kept. */
async function startAgent() {
  const { log } = captureLog();
  const signals = new EventEmitter();
  const stop = new StopSignals({ emitter: signals, clock: new FakeClock(), graceMs: 1000, log });
  const source = new StuckSource();
  const lines = new EventEmitter();
  const listening = new EventEmitter();
  const ended = runAgent({
    config: loadConfig({ CHECKS_FILE: 'unused', AGENT_HEALTH_PORT: '0' }),
    source,
    openSink: () => ({
      result: (result) => void lines.emit('result', result),
      missed: (missed) => void lines.emit('missed', missed),
      flush: async () => {},
    }),
    log,
    stop,
    runAtStart: true,
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

it('has metrics of the checks that are activated, and of no other', async () => {
  const server = await listenTcp((socket) => socket.end());
  onTestFinished(() => server.close());
  const { source, lines, metrics } = await startAgent();
  const check = checkOf('TCP', { id: 'db', frequency: 1440, request: { port: server.port } });
  const judged = once(lines, 'result');
  source.give(check, checkOf('TCP', { id: 'off', activated: false }));
  await judged;
  expect(await metrics()).toMatch(/^vedette_check_up\{check_id="db".*\} 1$/m);
  expect(await metrics()).toMatch(/^vedette_checks 1$/m);

  source.give({ ...check, activated: false });
  const text = await metrics();
  expect(text).not.toContain('check_id="db"');
  expect(text).toMatch(/^vedette_checks 0$/m);
});
