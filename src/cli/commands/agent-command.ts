import type { OpenBackend } from '../../agent/backend/backend.ts';
import { createFileBackend } from '../../agent/backend/file-backend.ts';
import { type AgentConfig, type FileWork, loadConfig } from '../../agent/config/agent-config.ts';
import { secretsOfOtlp } from '../../agent/config/otlp.ts';
import { secretsOfTargetsFrom } from '../../agent/config/targets-from.ts';
import { discardReports, NO_REPORTS } from '../../agent/error-reports/disabled-reports.ts';
import type { ErrorReports } from '../../agent/error-reports/error-reports-port.ts';
import { NdjsonSink } from '../../agent/output/ndjson-sink.ts';
import { type AgentSecrets, openAgentSecrets } from '../../agent/secrets/agent-secrets.ts';
import { scrubError } from '../../agent/secrets/scrub-error.ts';
import type { CheckSource } from '../../agent/source/check-source.ts';
import { createFileSource } from '../../agent/source/file/file-source.ts';
import type { Clock } from '../../runtime/clock.ts';
import { loadSequentially } from '../../runtime/load-sequentially.ts';
import { createLogger, type Logger } from '../../runtime/logger.ts';
import type { Proxies } from '../../runtime/net/proxy/choose-proxy.ts';
import { requireDescriptors } from '../../runtime/process/descriptors.ts';
import { VERSION } from '../../runtime/version.ts';
import { wantsColour } from '../print/colour.ts';
import type { Terminal } from '../terminal.ts';
import { runDaemon } from './run-daemon.ts';

/** An idle agent has about 25 open descriptors; the others are for runs and for scrapes of its metrics. */
const MIN_DESCRIPTORS = 64;

export interface AgentOptions {
  /** Whether results are printed to stdout even if they are sent to a service. */
  readonly printResults: boolean;
  /** Called once with the port of health and metrics. */
  readonly onListening: (port: number) => void;
}

/**
 * The daemon: configured by the environment (src/agent/README.md, "Operating the agent"), its log
 * on stderr, as JSON unless a person reads it. With a check file, or with --print-results, results
 * go to stdout as NDJSON.
 *
 * @throws VedetteError where a variable, the check file, DATA_DIR or the machine is unusable
 */
export async function agentCommand(
  { printResults, onListening }: AgentOptions,
  terminal: Terminal,
): Promise<number> {
  const { stderr, env, clock } = terminal;
  const config = loadConfig(env);
  requireDescriptors(MIN_DESCRIPTORS, 'the agent');
  let secrets: AgentSecrets | null = null;
  let reports = NO_REPORTS;
  const log = createLogger({
    level: config.logLevel,
    destination: stderr,
    format: stderr.isTTY === true ? 'pretty' : 'json',
    colour: wantsColour(stderr, env),
    clock,
    scrub: (line) => secrets?.scrubber.json(line) ?? line,
    onError: (error) => reports.note(error),
  });
  reports = await reportsFor(config, clock, log);
  const { operatorVariables: operator } = config;
  secrets = await openAgentSecrets({ operator, always: () => keysOf(config), clock, log });
  const openBackend = backendFor(config, printResults, terminal);
  try {
    return await runDaemon({ config, log, openBackend, secrets, reports, onListening }, terminal);
  } catch (thrown) {
    throw scrubError(thrown, secrets.scrubber);
  }
}

async function reportsFor(
  { work, externalObservability }: AgentConfig,
  clock: Clock,
  log: Logger,
): Promise<ErrorReports> {
  if (work.kind === 'file') return NO_REPORTS;
  const { dataDir } = work;
  if (!externalObservability) return discardReports({ dataDir, log });
  loadSequentially(import.meta.url, '../../agent/error-reports/error-reports.js');
  const { createErrorReports } = await import('../../agent/error-reports/error-reports.ts');
  return createErrorReports({ clock, dataDir, version: VERSION, log });
}

/** The agent's own secrets, which may change while it runs. */
function keysOf({ work, otlp }: AgentConfig): readonly string[] {
  const ofExport = otlp === null ? [] : secretsOfOtlp(otlp);
  if (work.kind === 'file') {
    const { rules = [], proxies } = work.discovery ?? {};
    return [...ofExport, ...secretsOfTargetsFrom(rules), ...proxySecrets(proxies)];
  }
  return [work.key.current, ...proxySecrets(work.proxies), ...ofExport];
}

function proxySecrets(proxies: Proxies | undefined): readonly string[] {
  return [proxies?.https, proxies?.http].flatMap((proxy) => proxy?.secrets ?? []);
}

function backendFor(config: AgentConfig, printResults: boolean, { stdout }: Terminal): OpenBackend {
  const { work, concurrency } = config;
  return async (parts) => {
    const { clock, log, metrics } = parts;
    const lines = () => new NdjsonSink({ output: stdout, onDropped: metrics.dropped, log });
    if (work.kind === 'service') {
      const alsoTo = printResults ? lines() : null;
      // Loaded only for a service.
      loadSequentially(import.meta.url, '../../agent/backend/service-backend.js');
      const { openServiceBackend } = await import('../../agent/backend/service-backend.ts');
      return openServiceBackend({ work, concurrency, alsoTo }, parts);
    }
    const file = createFileSource({ file: work.checksFile, clock, log, runsAlone: true });
    const source = await withTargets(file, work, { clock, log });
    return createFileBackend({ source, sink: lines() });
  };
}

/** Adds checks for discovered targets to the checks of a file, if discovery documents are configured. */
async function withTargets(
  file: CheckSource,
  { discovery }: FileWork,
  parts: { readonly clock: Clock; readonly log: Logger },
): Promise<CheckSource> {
  if (discovery === null) return file;
  // Loaded only if it is used.
  loadSequentially(import.meta.url, '../../agent/source/discovery/discovered-targets.js');
  const { withDiscoveredTargets } = await import(
    '../../agent/source/discovery/discovered-targets.ts'
  );
  return withDiscoveredTargets(file, { ...parts, ...discovery, version: VERSION });
}
