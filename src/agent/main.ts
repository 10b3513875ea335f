import { systemClock } from '../runtime/clock.ts';
import { messageOf } from '../runtime/errors.ts';
import type { StopSignals } from '../runtime/lifecycle.ts';
import type { Logger } from '../runtime/logger.ts';
import { VERSION } from '../runtime/version.ts';
import type { AgentConfig } from './config.ts';
import type { AgentState, HealthStatus } from './health/endpoints.ts';
import { type AgentMetrics, createMetrics } from './health/metrics.ts';
import { startHealthServer } from './health/server.ts';
import type { ResultSink } from './output/result-sink.ts';
import { createRunTools } from './run/run-tools.ts';
import { runCheck } from './run/runner.ts';
import { warmUp } from './run/warm-up.ts';
import { Scheduler } from './scheduler/scheduler.ts';
import type { CheckSet, CheckSource } from './source/check-source.ts';

/** The `runLocation` of an agent that runs a file. */
export const LOCAL = 'local';

/** What is still to be written when all has ended is given this long, milliseconds. */
const FLUSH_LIMIT_MS = 5_000;

export interface AgentParts {
  readonly config: AgentConfig;
  readonly source: CheckSource;
  /** Makes the sink, which tells the metrics what it had to drop. */
  readonly openSink: (onDropped: AgentMetrics['dropped']) => ResultSink;
  readonly log: Logger;
  readonly stop: StopSignals;
  /** Looks at each check of the first set once at once, beside its plan. */
  readonly runAtStart: boolean;
  /** Told once, when the health server listens. */
  readonly onListening: (healthPort: number) => void;
}

/**
 * The daemon's composition root: builds the parts, runs until it is told to stop, and drains.
 *
 * | state | entered by | readiness |
 * |---|---|---|
 * | starting | – | 503 |
 * | running | the first check set | 200 |
 * | draining | `stop.stopping` | 503 |
 *
 * @throws VedetteError where the health port is not to be had or the first check set is invalid
 */
export async function runAgent(parts: AgentParts): Promise<void> {
  const { config, log, stop } = parts;
  const clock = systemClock;
  const metrics = createMetrics({ version: VERSION });
  const sink = countingSink(parts.openSink(metrics.dropped), metrics);
  let set: CheckSet = { checks: [], clientCertificates: [] };
  const tools = createRunTools({
    config,
    clock,
    log,
    clientCertificates: () => set.clientCertificates,
  });
  const runnerParts = { ...tools.parts, location: LOCAL, sink, onStarved: metrics.starved };
  const scheduler = new Scheduler({
    clock,
    concurrency: config.concurrency,
    run: (run) => runCheck(run, runnerParts),
    onMissed: sink.missed,
    onFault: (fault, check) =>
      log.error({ err: fault, checkId: check?.id }, 'a fault of the agent; please report it'),
    observer: {
      started(_check, _slotMs, lateMs, kind) {
        // A one-off has no slot to be late for.
        if (kind === 'slot') metrics.startLate(lateMs);
      },
      clockStepped: (stepMs) => log.warn({ stepMs }, 'the wall clock was set'),
    },
  });
  metrics.bind(scheduler, parts.source);

  let state: AgentState = 'starting';
  const status = (): HealthStatus => ({
    state,
    checks: scheduler.checks,
    running: scheduler.running,
    queued: scheduler.queued,
    ...metrics.totals,
    spoolDepth: null,
    lastContact: null,
    checkFileUsable: parts.source.checkFileUsable,
    lastTurnMs: scheduler.lastTurnMs,
  });
  const take = (next: CheckSet): void => {
    if (state === 'draining') return;
    set = next;
    const active = next.checks.filter(({ activated }) => activated);
    // The last value of a check that is switched off would look like one that still holds.
    metrics.setChecks(active);
    scheduler.setChecks(active);
    log.info({ checks: next.checks.length, scheduled: scheduler.checks }, 'the checks are in');
    if (state !== 'starting') return;
    state = 'running';
    scheduler.start();
    if (!parts.runAtStart) return;
    for (const check of active) scheduler.runNow(check);
  };

  try {
    const server = await startHealthServer({
      port: config.healthPort,
      version: VERSION,
      clock,
      log,
      status,
      metrics,
    });
    try {
      log.info({ port: server.port, version: VERSION }, 'health and metrics are served');
      parts.onListening(server.port);
      await warmUp(tools.parts, stop.stopping);
      // A stop is obeyed at once, whatever the source is still busy with (a file on a dead mount).
      await endOrAbort(parts.source.watch(take, stop.stopping), stop.stopping);
      state = 'draining';
      const drained = scheduler.drain(stop.now);
      const runs = scheduler.unfinished;
      if (runs > 0) log.info({ runs }, 'waiting for runs to finish, retries included');
      await drained;
      await flush(sink, log);
    } finally {
      await server.close();
    }
  } finally {
    await tools.close();
  }
}

/** Settles as the promise does, and resolves as soon as the signal aborts. */
function endOrAbort(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
    promise.then(resolve, reject);
  });
}

/** Everything that the sink takes over is counted first. */
function countingSink(sink: ResultSink, metrics: AgentMetrics): ResultSink {
  return {
    result(result) {
      metrics.finished(result);
      sink.result(result);
    },
    missed(missed) {
      metrics.missed(missed);
      sink.missed(missed);
    },
    flush: (signal) => sink.flush(signal),
  };
}

/** Also runs that were cut short have something to tell, so this has a limit of its own. */
async function flush(sink: ResultSink, log: Logger): Promise<void> {
  const limit = new AbortController();
  const cancel = systemClock.after(FLUSH_LIMIT_MS, () => limit.abort());
  try {
    await sink.flush(limit.signal);
  } catch (error) {
    log.error({ err: error }, `results could not be written: ${messageOf(error)}`);
  } finally {
    cancel();
  }
}
