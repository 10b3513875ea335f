import type { Destination } from './address-bytes.ts';

export type EchoSent =
  /** Monotonic instant right before the system call, and the milliseconds that it took. */
  | { readonly kind: 'sent'; readonly sentAtMs: number; readonly tookMs: number }
  /** The network refused the packet: no route, a firewall rule. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** A fault of ours or of this host: no buffers left, the socket is closed. */
  | { readonly kind: 'fault'; readonly reason: string };

/** An echo reply as it came in. The buffers are valid only during the call that hands them over. */
export interface ReceivedReply {
  readonly sequence: number;
  readonly source: Buffer;
  readonly data: Buffer;
  /** The reply's time to live or hop limit; null if the socket does not report it. */
  readonly ttl: number | null;
  /**
   * Time from the arrival in the kernel until we read it; null if the socket does not report it.
   */
  readonly waitedMs: number | null;
}

export interface ReceivedError {
  readonly sequence: number;
  /** Where the request was going. */
  readonly target: Buffer;
  /** The part of the request that the error quotes. */
  readonly data: Buffer;
  /** The problem, and who reported it, for messages. */
  readonly reason: string;
}

export interface EchoReceiver {
  reply(reply: ReceivedReply): void;
  error(error: ReceivedError): void;
  /** The socket broke. Nothing follows. */
  broken(reason: string): void;
}

/** One socket of one family for the echoes of all runs. */
export interface PingTransport {
  readonly name: string;
  /** The caller may reuse `data` when this returns, even if `done` is called later. */
  send(
    destination: Destination,
    sequence: number,
    data: Uint8Array,
    done: (sent: EchoSent) => void,
  ): void;
  /** Delivers what has already arrived, then calls `done`: at once if the socket can be read. */
  drain(done: () => void): void;
  close(): void;
}
