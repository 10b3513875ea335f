import type { Family } from '../../net/resolver.ts';
import type { Unreachable } from './unreachable.ts';

/** Longest route that is traced; routes on the internet are not longer in practice. */
export const MAX_TTL = 30;
export const PROBES_PER_HOP = 3;
/**
 * Time limit for an answer. A router gives up on a silent neighbour after 3 s (RFC 4861 10; ARP on
 * Linux as well), and only then reports the host unreachable.
 */
export const PROBE_WAIT_MS = 4000;

export type Meaning = 'on the way' | 'destination' | Unreachable;

export interface HopAnswer {
  readonly address: string;
  readonly rttMs: number;
  readonly meaning: Meaning;
}

/** The answer to one probe; null if none arrived in time. */
export type ProbeEnd = HopAnswer | null;

export interface Observed {
  /** At most MAX_TTL, in the order of the route, without probes that may still be answered. */
  readonly hops: readonly (readonly ProbeEnd[])[];
  /** `complete`: all probes were sent, and answered or given their full time. */
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

/** Finds the hops to an address. Never rejects, and leaves nothing open. */
export interface Engine {
  readonly method: 'raw sockets' | 'traceroute';
  /** `address` is an address of the family in canonical form, without a scope. */
  run(address: string, family: Family, options: EngineOptions): Promise<EngineRun>;
}

export type FoundEngine =
  | { readonly ok: true; readonly engine: Engine }
  /** A clause that names what is missing. */
  | { readonly ok: false; readonly reason: string };
