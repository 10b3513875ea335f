import { randomUUID } from 'node:crypto';
import { systemClock } from '../runtime/clock.ts';
import type { StopSignals } from '../runtime/lifecycle.ts';
import { loadSequentially } from '../runtime/load-sequentially.ts';
import type { Logger } from '../runtime/logger.ts';
import { VERSION } from '../runtime/version.ts';
import { isInTime } from '../runtime/wait.ts';
import type { OpenBackend, RunProgress } from './backend/backend.ts';
import type { ProbeRequest } from './blackbox-probe/blackbox-probe.ts';
import type { AgentConfig } from './config/agent-config.ts';
import { Daemon } from './daemon.ts';
import type { ErrorReports } from './error-reports/error-reports.ts';
import { NO_EVIDENCE, openEvidence } from './evidence/open-evidence.ts';
import { endOrphans } from './evidence/orphans.ts';
import { startHealthServer } from './health/health-server.ts';
import {
  HEALTH_OF_START,
  type HealthResponse,
  type HealthStatus,
  textResponse,
} from './health/readiness-and-liveness.ts';
import { type AgentMetrics, createMetrics } from './metrics/metrics.ts';
import type { OtlpExporter } from './otlp/exporter.ts';
import { createRunTools } from './run/run-tools.ts';
import { openStarvationSources } from './run/starvation/starvation-meter.ts';
import { warmUp } from './run/warm-up.ts';
import { waitingLimit } from './scheduler/permits/waiting-limit.ts';
import type { AgentSecrets } from './secrets/agent-secrets.ts';

export interface AgentParts {
  readonly config: AgentConfig;
  /** Opens the backend, once health is served. */
  readonly openBackend: OpenBackend;
  readonly log: Logger;
  /** They scrub the log, too. */
  readonly secrets: AgentSecrets;
  readonly reports: ErrorReports;
  readonly stop: StopSignals;
  /** Called once, when the health server listens. */
  readonly onListening: (healthPort: number) => void;
}

/**
 * The daemon's composition root: builds the parts, runs until a stop signal, and drains.
 *
 * | state | entered by | readiness |
 * |---|---|---|
 * | starting | – | 503 |
 * | running | the first check set | 200 |
 * | draining | `stop.stopping`, or the source cannot continue | 503 |
 *
 * @throws VedetteError if the health port or the backend cannot be opened, the first check set is
 *   invalid, or the source cannot continue
 */
export async function runAgent(parts: AgentParts): Promise<void> {
  const { config, log, secrets, reports, stop } = parts;
  const clock = systemClock;
  const metrics = createMetrics({ version: VERSION, clock, chosenTags: config.metricTags });
  let status = (): HealthStatus => HEALTH_OF_START;
  let probe = async (_request: ProbeRequest): Promise<HealthResponse> =>
    textResponse(503, 'the first checks are not in yet');
  const server = await startHealthServer({
    port: config.healthPort,
    host: config.healthHost,
    version: VERSION,
    clock,
    log,
    status: () => status(),
    metrics,
    probe: config.probeEndpoint ? (request) => probe(request) : null,
  });
  try {
    log.info({ port: server.port, version: VERSION }, 'health and metrics are served');
    parts.onListening(server.port);
    // Backend and daemon depend on each other: the backend reads the daemon's runs only later.
    let daemon: Daemon | null = null;
    const runs: RunProgress = {
      get running() {
        return daemon?.running ?? 0;
      },
      get queued() {
        return daemon?.queued ?? 0;
      },
      get reachedMs() {
        return daemon?.reachedMs ?? clock.wallMs();
      },
    };
    const clientCertificates = () => daemon?.clientCertificates ?? [];
    const proxyUrl = () => daemon?.proxyUrl ?? null;
    // Only agents of a service may have to agree on the ids: a retry may run on another one.
    const traceSalt = config.work.kind === 'file' ? randomUUID() : null;
    const tools = createRunTools({
      config,
      traceSalt,
      clock,
      log,
      clientCertificates,
      proxyUrl,
      secrets,
      starvation: await openStarvationSources(),
    });
    const { resolver } = tools;
    const capturesSecrets = config.evidence === 'with-secrets';
    const onPass = metrics.evidence;
    const openingEvidence =
      config.evidence === 'off'
        ? endOrphans({ log }).then(() => NO_EVIDENCE)
        : openEvidence({ clock, log, resolver, capturesSecrets, onPass, signal: stop.now });
    const exporter = await openExporter({ ...parts, metrics, healthPort: server.port, traceSalt });
    const exporting = new AbortController();
    const exported = exporter?.run(exporting.signal, stop.now);
    const watching = new AbortController();
    const watched = secrets.watch(watching.signal);
    try {
      const captures = openingEvidence.then(
        ({ budget }) =>
          () =>
            budget?.captures ?? false,
      );
      const opening = parts.openBackend({ clock, log, metrics, runs, captures, reports, secrets });
      // Stops even while it reads a large spool or a folder on a dead mount.
      if (!(await isInTime(opening, stop.stopping))) {
        void opening.then((late) => late.close(AbortSignal.abort())).catch(() => {});
        return;
      }
      const backend = await opening;
      const opened = await openingEvidence;
      opened.logAvailability(backend.artifacts !== null);
      const { budget: evidence } = opened;
      const { parts: toolParts } = tools;
      const connected = new Daemon({
        config,
        waiting: waitingLimit(config.concurrency),
        clock,
        log,
        metrics,
        backend,
        tools: toolParts,
        secrets,
        evidence,
        onResult: exporter === null ? undefined : (result) => exporter.result(result),
        ready: warmUp(tools.parts, stop.stopping),
      });
      daemon = connected;
      status = () => connected.status;
      probe = (request) => connected.probes.answer(request);
      await connected.run(stop);
    } finally {
      exporting.abort();
      await exported;
      watching.abort();
      await watched;
      (await openingEvidence).close();
      await tools.close();
    }
  } finally {
    await server.close();
  }
}

/** null without OTEL_EXPORTER_OTLP_ENDPOINT. */
async function openExporter({
  config: { otlp },
  log,
  secrets,
  metrics,
  healthPort,
  traceSalt,
}: AgentParts & {
  readonly metrics: AgentMetrics;
  readonly healthPort: number;
  readonly traceSalt: string | null;
}): Promise<OtlpExporter | null> {
  if (otlp === null) return null;
  // Loaded only if it is used.
  loadSequentially(import.meta.url, './otlp/exporter.js');
  const { createOtlpExporter } = await import('./otlp/exporter.ts');
  const options = { config: otlp, metrics, secrets, log, healthPort, traceSalt };
  return createOtlpExporter({ ...options, clock: systemClock, version: VERSION });
}
