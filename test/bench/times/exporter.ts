import { setTimeout as delay } from 'node:timers/promises';
import { PERIOD_MS } from '../support/agent.ts';
import { type Blackbox, withBlackbox } from '../support/blackbox.ts';
import type { Load, LoadWithConditions } from './conditions.ts';
import { type Cores, onCore } from './cores.ts';
import type { Outcome, Pace } from './measured.ts';
import { errorsOf, type Reading, type Times } from './packet-times.ts';
import { NAME, type Probe, probeOf } from './probes.ts';
import type { Wire } from './wire.ts';

/** A request is sent when its time has come; Node's timers have whole milliseconds. */
const TICK_MS = 1;

/** Measures the blackbox exporter like the agent: it is asked for each probe when that is due. */
export function measureExporter(
  wire: Wire,
  { load, conditions }: LoadWithConditions,
  { cores, pace, signal }: { readonly cores: Cores; readonly pace: Pace; signal: AbortSignal },
): Promise<ReadonlyMap<string, Outcome>> {
  const modules = modulesOf(wire);
  const probes = Array.from({ length: load.checks }, (_, n) => probeOf(wire, n));
  const work = async (blackbox: Blackbox): Promise<ReadonlyMap<string, Outcome>> => {
    await ask(blackbox, probes, load, pace.warmUpMs, signal);
    const outcomes = new Map<string, Outcome>();
    for (const { name, begin } of conditions) {
      const end = await begin(blackbox.pid, cores.measured);
      try {
        await ask(blackbox, probes, load, pace.settleMs, signal);
        await wire.flows();
        const { readings, due } = await ask(blackbox, probes, load, pace.windowMs, signal);
        const errors = errorsOf(readings, await wire.flows());
        outcomes.set(name, { errors, due, missed: due - readings.length, uncertain: 0 });
      } finally {
        await end();
      }
    }
    return outcomes;
  };
  return withBlackbox(modules, work, onCore(cores.measured));
}

function modulesOf({ caFile }: Wire): object {
  const http = { preferred_ip_protocol: 'ip4' };
  const secure = { ...http, tls_config: { ca_file: caFile } };
  const dns = { query_name: NAME, query_type: 'A', transport_protocol: 'udp' };
  return {
    // For a connection alone it reports only the duration of the whole probe.
    tcp: { prober: 'http', http },
    http: { prober: 'http', http },
    https: { prober: 'http', http: secure },
    dns: { prober: 'dns', dns: { ...dns, preferred_ip_protocol: 'ip4' } },
  };
}

interface Asked {
  readonly readings: readonly Reading[];
  /** Includes those that were skipped because the previous one was still running. */
  readonly due: number;
}

async function ask(
  blackbox: Blackbox,
  probes: readonly Probe[],
  { phaseMsOf }: Load,
  durationMs: number,
  signal: AbortSignal,
): Promise<Asked> {
  const periods = Math.ceil(durationMs / PERIOD_MS);
  const slots = Array.from({ length: periods }, (_, period) =>
    probes.map((probe, n) => ({ probe, atMs: period * PERIOD_MS + phaseMsOf(n) })),
  )
    .flat()
    .filter(({ atMs }) => atMs < durationMs)
    .sort((one, other) => one.atMs - other.atMs);
  const readings: Reading[] = [];
  const going = new Map<Probe, Promise<void>>();
  const startMs = performance.now();
  for (const { probe, atMs } of slots) {
    while (performance.now() - startMs < atMs) await delay(TICK_MS, undefined, { signal });
    if (going.has(probe)) continue;
    const asked = read(blackbox, probe).then((reading) => {
      readings.push(reading);
      going.delete(probe);
    });
    // Awaited below.
    asked.catch(() => {});
    going.set(probe, asked);
  }
  await Promise.all(going.values());
  return { readings, due: slots.length };
}

async function read(blackbox: Blackbox, { kind, server }: Probe): Promise<Reading> {
  const target = kind === 'http' || kind === 'https' ? `${kind}://${server}/` : server;
  const fromMs = Date.now();
  const metrics = await blackbox.probe(kind, target);
  return { server, fromMs, toMs: Date.now(), times: timesOf(kind, metrics), isExact: true };
}

function timesOf(kind: Probe['kind'], metrics: string): Times {
  const of = (prober: 'http' | 'dns', phase: string): number => {
    const line = new RegExp(`^probe_${prober}_duration_seconds\\{phase="${phase}"\\} (\\S+)$`, 'm');
    return Number(line.exec(metrics)?.[1]) * 1000;
  };
  if (kind === 'dns') return { dns: of('dns', 'request') };
  const tcp = of('http', 'connect');
  if (kind === 'https') return { tcp, tls: of('http', 'tls') };
  return { tcp, firstByte: of('http', 'processing'), download: of('http', 'transfer') };
}
