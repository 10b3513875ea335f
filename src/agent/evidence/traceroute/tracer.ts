import type { Traceroute } from '../../../model/result/traceroute.ts';

export interface TraceTarget {
  readonly hostname: string;
  /** The destination; it is not resolved again. */
  readonly address: string;
}

export type Traced =
  | { readonly ok: true; readonly traceroute: Traceroute }
  /** For the job log. */
  | { readonly ok: false; readonly note: string };

/**
 * Traces the route to an address (src/agent/README.md, "Evidence: traceroute and packet capture").
 */
export interface Tracer {
  /** For the log; null if nothing can be traced. */
  readonly method: 'raw sockets' | 'traceroute' | null;
  /** Missing privilege or program, and how to grant it; null if traces are possible. */
  readonly lack: string | null;
  /** Never rejects. Ends its process and sockets by `signal`, or after `limitMs`. */
  trace(
    target: TraceTarget,
    options: { readonly signal: AbortSignal; readonly limitMs: number },
  ): Promise<Traced>;
  close(): void;
}
