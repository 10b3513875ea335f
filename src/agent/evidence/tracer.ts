import type { Traceroute } from '../../model/result/traceroute.ts';

export interface TraceTarget {
  readonly hostname: string;
  /** Where the way leads to; never looked up again. */
  readonly address: string;
}

export type Traced =
  | { readonly ok: true; readonly traceroute: Traceroute }
  /** For the job log: why there is none. */
  | { readonly ok: false; readonly note: string };

/** Finds the way to an address (src/agent/README.md, "When a check fails: the evidence"). */
export interface Tracer {
  /** What it works with, for the log; null where nothing can be traced. */
  readonly method: 'raw sockets' | 'traceroute' | null;
  /** Which privilege or program is missing, and how to grant it; null where nothing is. */
  readonly lack: string | null;
  /** Never rejects. Ends its process and sockets by `signal`, or after `limitMs`. */
  trace(
    target: TraceTarget,
    options: { readonly signal: AbortSignal; readonly limitMs: number },
  ): Promise<Traced>;
  close(): void;
}
