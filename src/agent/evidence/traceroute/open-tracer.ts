import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { NameServers } from '../../net/dns/system/name-servers.ts';
import type { Family } from '../../net/resolver.ts';
import { addressText, wireBytes } from '../../probes/icmp/address-bytes.ts';
import { buildTraceroute } from './build-traceroute.ts';
import type { Engine } from './engine.ts';
import { NAMES_LIMIT_MS, withNames } from './hop-names.ts';
import { findRawEngine } from './raw-engine.ts';
import { findSystemEngine } from './system-engine.ts';
import type { Traced, Tracer, TraceTarget } from './tracer.ts';

export interface TracerOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly resolver: { nameServers(): NameServers };
  /** Directories to search for traceroute; default: those of the system. */
  readonly programFolders?: readonly string[];
}

/**
 * Selects a method once: raw sockets, else the program traceroute, which needs no privilege.
 * Without either, `lack` and each trace report what is missing.
 */
export async function openTracer(options: TracerOptions): Promise<Tracer> {
  const { clock, programFolders } = options;
  const raw = await findRawEngine(clock);
  if (raw.ok) return new EngineTracer(raw.engine, options);
  const system = await findSystemEngine({
    clock,
    ...(programFolders === undefined ? {} : { folders: programFolders }),
  });
  if (system.ok) return new EngineTracer(system.engine, options);
  return lackingTracer(
    `raw sockets (${raw.reason}) and the program traceroute (${system.reason}) are both out of reach; ${HOW_TO_ALLOW}`,
  );
}

const HOW_TO_ALLOW =
  'install traceroute (on Debian: apt-get install traceroute), or give the agent CAP_NET_RAW (in ' +
  'a container --cap-add=NET_RAW, else setcap cap_net_raw+ep on node) with the package net-ping';

/** Traces nothing. @param lack what is missing, and how to grant it */
export function lackingTracer(lack: string): Tracer {
  return {
    method: null,
    lack,
    trace: () => Promise.resolve({ ok: false, note: lack }),
    close() {},
  };
}

/** Closing it is permanent, and also ends the traces in progress. */
class EngineTracer implements Tracer {
  readonly method: Engine['method'];
  readonly lack = null;
  readonly #engine: Engine;
  readonly #options: TracerOptions;
  readonly #inProgress = new Set<AbortController>();
  #state: 'open' | 'closed' = 'open';

  constructor(engine: Engine, options: TracerOptions) {
    this.method = engine.method;
    this.#engine = engine;
    this.#options = options;
  }

  async trace(
    target: TraceTarget,
    { signal, limitMs }: { readonly signal: AbortSignal; readonly limitMs: number },
  ): Promise<Traced> {
    const stop = new AbortController();
    const onAbort = (): void => stop.abort();
    this.#inProgress.add(stop);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted || this.#state === 'closed') stop.abort();
    try {
      return await this.#traceWithin(target, stop.signal, limitMs);
    } catch (error) {
      this.#options.log.error({ err: error }, 'a trace failed on an internal error');
      return { ok: false, note: `internal error: ${messageOf(error)}` };
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#inProgress.delete(stop);
    }
  }

  close(): void {
    this.#state = 'closed';
    for (const stop of this.#inProgress) stop.abort();
  }

  async #traceWithin(target: TraceTarget, signal: AbortSignal, limitMs: number): Promise<Traced> {
    const { clock, resolver } = this.#options;
    const parsed = traceAddressOf(target.address);
    if (!parsed.ok) return parsed;
    const deadlineMs = clock.monotonicMs() + limitMs;
    const forNamesMs = Math.min(NAMES_LIMIT_MS, limitMs / 4);
    const options = { signal, deadlineMs: deadlineMs - forNamesMs };
    const run = await this.#engine.run(parsed.address, parsed.family, options);
    if (!run.ok) return run;
    const { observed } = run;
    if (observed.hops.length === 0) {
      const limit = `no hop was known after ${Math.round(limitMs)} ms`;
      return { ok: false, note: observed.ended === 'stopped' ? 'it was cancelled' : limit };
    }
    const nameServers = (): NameServers => resolver.nameServers();
    const unnamed = buildTraceroute(target, observed);
    const traceroute = await withNames(unnamed, { clock, signal, deadlineMs, nameServers });
    return { ok: true, traceroute };
  }
}

type TraceAddress =
  | { readonly ok: true; readonly address: string; readonly family: Family }
  | { readonly ok: false; readonly note: string };

const LINK_LOCAL = /^fe[89ab][0-9a-f]:/;

/** The address in canonical form; IPv4-mapped IPv6 (RFC 4291 2.5.5.2) becomes IPv4. */
function traceAddressOf(text: string): TraceAddress {
  const bytes = wireBytes(text);
  if (bytes === null) return { ok: false, note: `${text} is not an IP address` };
  const address = addressText(bytes);
  if (LINK_LOCAL.test(address)) {
    return { ok: false, note: `${text} is on the link itself: there is no route to trace` };
  }
  return { ok: true, address, family: bytes.length === 4 ? 4 : 6 };
}
