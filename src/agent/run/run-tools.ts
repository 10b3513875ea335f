import type { ClientCertificate } from '../../model/check/client-certificate.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { denyNetworks } from '../../runtime/net/address-guard.ts';
import { ThrottledLog } from '../../runtime/throttled-log.ts';
import { createEvaluator } from '../assertions/evaluator.ts';
import type { RunConfig } from '../config/agent-config.ts';
import { createSystemResolver, type SystemResolver } from '../net/dns/system/system-resolver.ts';
import { trustExtraRoots } from '../net/tls/secure-contexts.ts';
import { SharedBodyMemory } from '../probes/http/body/body-memory.ts';
import { createIcmpProbe } from '../probes/icmp/probe.ts';
import { type MachineLimits, machineLimits } from '../scheduler/permits/waiting-limit.ts';
import { createScriptPool } from '../scripts/script-pool.ts';
import type { AgentSecrets } from '../secrets/agent-secrets.ts';
import { dnsRunner } from './check-types/dns.ts';
import { httpRunner } from './check-types/http.ts';
import { icmpRunner } from './check-types/icmp.ts';
import { tcpRunner } from './check-types/tcp.ts';
import { createConnectivityCheck } from './connectivity.ts';
import type { RunnerParts } from './run.ts';
import { readCpuAccount } from './starvation/cpu-accounting.ts';
import { LoadShedding } from './starvation/load-shedding.ts';
import { StarvationMeter, type StarvationSources } from './starvation/starvation-meter.ts';

/** Bodies take several times their length while assertions are evaluated. */
const BODIES_MEMORY_SHARE = 1 / 16;
/** At least two bodies of maximum length. */
const MIN_BODIES_BYTES = 64 * 1024 * 1024;
const MAX_BODIES_BYTES = 256 * 1024 * 1024;

const NO_WORKER =
  'scripts of checks get no worker in time, so the agent repeats attempts and misses slots: raise SCRIPT_WORKERS, or shorten the scripts and what they wait for';

/** Memory for all bodies that are longer than results store. */
export function bodyRoomBytes({ memoryBytes }: Pick<MachineLimits, 'memoryBytes'>): number {
  const share = Math.floor(memoryBytes * BODIES_MEMORY_SHARE);
  return Math.min(MAX_BODIES_BYTES, Math.max(MIN_BODIES_BYTES, share));
}

export interface RunToolsOptions {
  readonly config: RunConfig;
  /** See `traceKeyOf`. */
  readonly traceSalt: string | null;
  readonly clock: Clock;
  readonly log: Logger;
  /** The current ones; called for each attempt. */
  readonly clientCertificates: () => readonly ClientCertificate[];
  /** The current one; called for each attempt. */
  readonly proxyUrl: () => string | null;
  readonly secrets: AgentSecrets;
  /** In addition to the event loop. Closed with the tools. */
  readonly starvation: StarvationSources;
}

export interface RunTools {
  readonly parts: Omit<
    RunnerParts,
    | 'sink'
    | 'location'
    | 'handover'
    | 'artifacts'
    | 'evidence'
    | 'onStarved'
    | 'onShed'
    | 'onBodyWithoutRoom'
  >;
  readonly resolver: SystemResolver;
  /** Ends sockets, threads and timers. No run may be active. */
  close(): Promise<void>;
}

/** Builds what all runs of a process share, with or without a daemon around them. */
export function createRunTools(options: RunToolsOptions): RunTools {
  const { config, clock, log, secrets, traceSalt } = options;
  if (config.extraRootsPem !== null) trustExtraRoots(config.extraRootsPem);
  const resolver = createSystemResolver({ clock });
  const evaluator = createEvaluator({
    clock,
    workerUrl: new URL('../assertions/evaluation-worker.js', import.meta.url),
  });
  const throttled = new ThrottledLog(clock, log);
  const { scriptWorkers } = config;
  const pool = createScriptPool({
    clock,
    workerUrl: new URL('../scripts/script-worker.js', import.meta.url),
    workers: scriptWorkers,
    onNoWorker: () => throttled.warn('no-script-worker', { scriptWorkers }, NO_WORKER),
  });
  const icmp = createIcmpProbe({ clock });
  const starvation = new StarvationMeter(clock, options.starvation);
  const loadShedding = new LoadShedding({
    clock,
    log,
    meter: starvation,
    readAccount: readCpuAccount,
  });
  const { clientCertificates, proxyUrl } = options;
  const http = { clientCertificates, proxyUrl };
  return {
    parts: {
      clock,
      log,
      traceSalt,
      resolver,
      evaluator,
      secrets,
      scripts: { pool, isEnabled: config.executeScripts },
      starvation,
      loadShedding,
      bodyRoom: new SharedBodyMemory(bodyRoomBytes(machineLimits())),
      guard: denyNetworks(config.deniedNetworks),
      connectivity: createConnectivityCheck({
        targets: config.connectivityTargets,
        resolver,
        clock,
      }),
      checkTypes: {
        URL: httpRunner(http),
        API: httpRunner(http),
        TCP: tcpRunner({ evaluator, clientCertificates: http.clientCertificates }),
        DNS: dnsRunner({ nameServers: () => resolver.nameServers(), ...http }),
        ICMP: icmpRunner({ icmp }),
      },
    },
    resolver,
    async close() {
      starvation.close();
      icmp.close();
      await Promise.all([evaluator.close(), pool.close()]);
    },
  };
}
