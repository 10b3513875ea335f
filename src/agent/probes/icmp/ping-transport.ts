import type { Destination } from './address-bytes.ts';

/** What became of one send. */
export type Sent =
  /** Monotonic milliseconds right before the packet was handed to the kernel, and what that took. */
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
  /** The reply's time to live or hop limit; null where the socket does not tell. */
  readonly ttl: number | null;
  /** How long the reply lay in the kernel before we read it; null where the socket does not tell. */
  readonly waitedMs: number | null;
}

/** An error message about one of our echo requests. */
export interface ReceivedError {
  readonly sequence: number;
  /** Where the request was going. */
  readonly target: Buffer;
  /** Of the request, as far as the error quotes it. */
  readonly data: Buffer;
  /** For people: what went wrong and who says so. */
  readonly reason: string;
}

export interface EchoReceiver {
  reply(reply: ReceivedReply): void;
  error(error: ReceivedError): void;
  /** The socket is of no use any more. Nothing follows. */
  broken(reason: string): void;
}

/** One socket of one family that carries all runs' echoes. Open from its making until close(). */
export interface PingTransport {
  /** For the job log. */
  readonly name: string;
  /** `data` is the caller's again when this returns, though `done` may be called later. */
  send(
    destination: Destination,
    sequence: number,
    data: Uint8Array,
    done: (sent: Sent) => void,
  ): void;
  /** Hands over what has already arrived, where the socket can be read at once. */
  drain(): void;
  close(): void;
}
