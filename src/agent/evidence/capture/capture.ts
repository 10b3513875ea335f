/** Limits a capture to the hosts and port of a target. */
export interface CaptureFilter {
  readonly addresses: readonly [string, ...(readonly string[])];
  /** null captures all ports. */
  readonly port: number | null;
  /** `dns`: UDP and TCP. */
  readonly transport: 'tcp' | 'udp' | 'icmp' | 'dns';
}

export interface Captured {
  /** A whole pcap file. */
  readonly bytes: Buffer;
  readonly packets: number;
  /** The capture ended at `maxBytes`. */
  readonly truncated: boolean;
  /** Packets dropped by the kernel; null if unknown. */
  readonly dropped: number | null;
}

export type CaptureOutcome =
  | { readonly ok: true; readonly captured: Captured }
  | { readonly ok: false; readonly note: string };

export interface Capture {
  /** Ends it and returns the packets so far. Never rejects. */
  stop(): Promise<CaptureOutcome>;
}

/** Captures packets (src/agent/README.md, "Evidence: traceroute and packet capture"). */
export interface Capturer {
  /** Missing privilege or program, and how to grant it; null if captures are possible. */
  readonly lack: string | null;
  /** Never rejects. The process ends by `stop`, `signal` or after `limitMs`. */
  start(
    filter: CaptureFilter,
    options: { readonly signal: AbortSignal; readonly limitMs: number; readonly maxBytes: number },
  ): Promise<
    { readonly ok: true; readonly capture: Capture } | { readonly ok: false; readonly note: string }
  >;
}
