import { EventEmitter, once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '../../../src/agent/config.ts';
import { Daemon } from '../../../src/agent/daemon.ts';
import { createMetrics } from '../../../src/agent/health/metrics.ts';
import { createFileLink } from '../../../src/agent/link/file-link.ts';
import { createRunTools } from '../../../src/agent/run/run-tools.ts';
import type { CheckListener, CheckSet } from '../../../src/agent/source/check-source.ts';
import type { Pause } from '../../../src/model/pause.ts';
import type { CheckResult, MissedSlots } from '../../../src/model/result.ts';
import { StopSignals } from '../../../src/runtime/lifecycle.ts';
import { checkOf } from '../../support/checks.ts';
import { eventually } from '../../support/eventually.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { captureLog } from '../../support/log-capture.ts';
import { EMPTY_VAULT } from '../../support/secrets.ts';
import { listenTcp } from '../../support/tcp-servers.ts';

const MINUTE = 60_000;

/** A daemon whose checks connect to a real target, on a clock of its own. */
async function startDaemon() {
  const { log } = captureLog();
  const clock = new FakeClock();
  const target = await listenTcp((socket) => socket.end());
  onTestFinished(() => target.close());
  const results: CheckResult[] = [];
  const missed: MissedSlots[] = [];
  const watched = new EventEmitter();
  const signals = new EventEmitter();
  const stop = new StopSignals({ emitter: signals, clock, graceMs: 0, log });
  const config = loadConfig({ CHECKS_FILE: 'unused', AGENT_HEALTH_PORT: '0' });
  const tools = createRunTools({
    config,
    clock,
    log,
    clientCertificates: () => [],
    proxyUrl: () => null,
    secrets: EMPTY_VAULT,
    starvation: { threadDelay: null, sockets: null },
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
    waiting: { runs: 0, cure: '' },
    clock,
    log,
    metrics,
    link: createFileLink({ source, sink }),
    tools: tools.parts,
    secrets: EMPTY_VAULT,
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
  return { clock, daemon, listener, metrics, missed, results, request: { port: target.port } };
}

it('an agent skips the slots of checks that pause, by the tags of their group too', async () => {
  const { clock, daemon, listener, metrics, missed, results, request } = await startDaemon();
  const everyMinute = { frequency: 1, frequencyOffset: 10, request } as const;
  const checks = [
    checkOf('TCP', { id: 'own', tags: ['db'], ...everyMinute }),
    checkOf('TCP', { id: 'group', ...everyMinute }),
    checkOf('TCP', { id: 'other', ...everyMinute }),
  ];
  const t0 = clock.wallMs();
  const pause: Pause = {
    startsAtMs: t0,
    endsAtMs: t0 + 3 * MINUTE,
    repeatUnit: 'DAY',
    repeatInterval: null,
    repeatEndsAtMs: null,
    tags: ['db'],
  };
  const set: CheckSet = {
    checks,
    clientCertificates: [],
    turns: new Map(),
    variables: [],
    proxyUrl: null,
    location: 'office',
    // Nobody had them for two slots: in the first all were paused, in the second two of them.
    unanswered: new Map(checks.map(({ id }) => [id, t0 - MINUTE - 1])),
    pauses: [pause, { ...pause, startsAtMs: t0 - MINUTE, endsAtMs: t0 - MINUTE + 1, tags: null }],
    groupTags: new Map([['group', ['db']]]),
  };
  const ranAMinute = async (ids: readonly string[]): Promise<void> => {
    await clock.advance(MINUTE);
    await eventually(() => results.length >= ids.length && daemon.running === 0);
    expect(results).toHaveLength(ids.length);
    expect(new Set(results.map(({ name }) => name))).toEqual(new Set(ids));
    results.length = 0;
  };
  listener.onChecks(set);
  await ranAMinute(['other']);
  expect(missed.map(({ checkId, slot, count }) => [checkId, slot, count])).toEqual([
    ['other', t0, 1],
  ]);
  expect(await metrics.text()).toContain('\nvedette_paused_slots_total 2\n');
  listener.onChecks({ ...set, unanswered: new Map(), pauses: [] });
  await ranAMinute(['group', 'other', 'own']);
  expect(missed).toHaveLength(1);
});
