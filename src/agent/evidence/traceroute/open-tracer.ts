import { isIP } from 'node:net';
import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { NameServers } from '../../net/dns/system/name-servers.ts';
import type { Family } from '../../net/resolver.ts';
import { addressBytes, addressText } from '../../probes/icmp/address-bytes.ts';
import type { Traced, Tracer, TraceTarget } from '../tracer.ts';
import { buildTraceroute } from './build-traceroute.ts';
import type { Engine } from './engine.ts';
import { NAMES_LIMIT_MS, withNames } from './hop-names.ts';
import { findRawEngine } from './raw-engine.ts';
import { findSystemEngine } from './system-engine.ts';

export interface TracerOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Resolves the names of hops with the name servers of the system. */
  readonly resolver: { nameServers(): NameServers };
  /** Directories to search for traceroute; default: those of the system. */
  readonly programFolders?: readonly string[];
}

/**
 * Looks once for a way to trace: raw sockets, else the program traceroute, which needs no
 * privilege. Without either the tracer says what it lacks, and each trace the same.
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

function lackingTracer(lack: string): Tracer {
  return {
    method: null,
    lack,
    trace: () => Promise.resolve({ ok: false, note: lack }),
    close() {},
  };
}

/** Modes: open, then closed for good, which ends the traces that are under way. */
class EngineTracer implements Tracer {
  readonly method: Engine['method'];
  readonly lack = null;
  readonly #engine: Engine;
  readonly #options: TracerOptions;
  readonly #underWay = new Set<AbortController>();
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
    this.#underWay.add(stop);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted || this.#state === 'closed') stop.abort();
    try {
      return await this.#traceWithin(target, stop.signal, limitMs);
    } catch (error) {
      this.#options.log.error({ err: error }, 'a trace failed for a fault of the agent');
      return { ok: false, note: `the agent failed at it: ${messageOf(error)}` };
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#underWay.delete(stop);
    }
  }

  close(): void {
    this.#state = 'closed';
    for (const stop of this.#underWay) stop.abort();
  }

  async #traceWithin(target: TraceTarget, signal: AbortSignal, limitMs: number): Promise<Traced> {
    const { clock, resolver } = this.#options;
    const way = wayTo(target.address);
    if (!way.ok) return way;
    const deadlineMs = clock.monotonicMs() + limitMs;
    const forNamesMs = Math.min(NAMES_LIMIT_MS, limitMs / 4);
    const options = { signal, deadlineMs: deadlineMs - forNamesMs };
    const run = await this.#engine.run(way.address, way.family, options);
    if (!run.ok) return run;
    const { observed } = run;
    if (observed.hops.length === 0) {
      const limit = `nothing was known of the way after ${Math.round(limitMs)} ms`;
      return { ok: false, note: observed.ended === 'stopped' ? 'it was broken off' : limit };
    }
    const nameServers = (): NameServers => resolver.nameServers();
    const unnamed = buildTraceroute(target, observed);
    const traceroute = await withNames(unnamed, { clock, signal, deadlineMs, nameServers });
    return { ok: true, traceroute };
  }
}

type Way =
  | { readonly ok: true; readonly address: string; readonly family: Family }
  | { readonly ok: false; readonly note: string };

const LINK_LOCAL = /^fe[89ab][0-9a-f]:/;
const IPV4_IN_IPV6 = Buffer.from('00000000000000000000ffff', 'hex');

/** The address in its usual form; one of IPv4 written as IPv6 (RFC 4291 2.5.5.2) is IPv4's. */
function wayTo(text: string): Way {
  const bytes = isIP(text) === 0 ? null : addressBytes(text.replace(/%.*$/, ''));
  if (bytes === null) return { ok: false, note: `${text} is no IP address` };
  const isIpv4 = bytes.length === 4;
  const isMapped = !isIpv4 && bytes.subarray(0, 12).equals(IPV4_IN_IPV6);
  const address = addressText(isMapped ? bytes.subarray(12) : bytes);
  if (LINK_LOCAL.test(address)) {
    return { ok: false, note: `${text} is on the link itself: there is no way to trace` };
  }
  return { ok: true, address, family: isIpv4 || isMapped ? 4 : 6 };
}
