import type { Family } from '../../net/resolver.ts';
import type { Unreachable } from './unreachable.ts';

/** As far as a way is followed; no way on the internet is longer in practice. */
export const MAX_TTL = 30;
export const PROBES_A_HOP = 3;
/**
 * How long an answer may take. A router gives up on a neighbour that does not answer after 3 s
 * (RFC 4861 10, and ARP on Linux alike), and only then says that the host is unreachable.
 */
export const PROBE_WAIT_MS = 4000;

/** The meaning of an answer for its probe. */
export type Says = 'on the way' | 'destination' | Unreachable;

export interface Answer {
  readonly address: string;
  readonly rttMs: number;
  readonly says: Says;
}

/** The answer to one probe; null if none arrived in time. */
export type ProbeEnd = Answer | null;

/** What an engine saw, whichever it is. */
export interface Observed {
  /** At most MAX_TTL, the first router's first. Probes that still had time for an answer are not in. */
  readonly hops: readonly (readonly ProbeEnd[])[];
  /** `complete`: all probes were sent and waited for. */
  readonly ended: 'complete' | 'time limit' | 'stopped';
}

export type EngineRun =
  | { readonly ok: true; readonly observed: Observed }
  | { readonly ok: false; readonly note: string };

export interface EngineOptions {
  readonly signal: AbortSignal;
  /** Monotonic instant by which the run ends. */
  readonly deadlineMs: number;
}

/** One way of finding the hops to an address. Never rejects, and leaves nothing open. */
export interface Engine {
  readonly method: 'raw sockets' | 'traceroute';
  /** `address` is a literal of the family without a scope, in its usual form. */
  run(address: string, family: Family, options: EngineOptions): Promise<EngineRun>;
}

export type FoundEngine =
  | { readonly ok: true; readonly engine: Engine }
  /** A clause that names what is missing. */
  | { readonly ok: false; readonly reason: string };
