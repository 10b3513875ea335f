import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Family } from '../../net/resolver.ts';
import { addressBytes, addressText } from '../../probes/icmp/address-bytes.ts';
import {
  decodeEchoReply,
  decodeQuotedRequest,
  type EchoMessage,
  echoData,
  encodeEchoRequest,
  TOKEN_BYTES,
} from '../../probes/icmp/echo-packet.ts';
import { decodeIpPacket } from '../../probes/icmp/ip-packet.ts';
import type { NetPing, NetPingSession, NetPingSocket } from '../../probes/icmp/net-ping.ts';
import { ownIdentifier } from '../../probes/icmp/own-identifier.ts';
import { icmpFilter } from '../../probes/icmp/raw-socket.ts';
import type { Says } from './engine.ts';
import { unreachableByCode } from './unreachable.ts';

const ERROR_HEADER_BYTES = 8;
/** setsockopt's level and option: IP_TTL of ip(7), IPV6_UNICAST_HOPS of ipv6(7). */
const TTL_OPTION = { 4: [0, 2], 6: [41, 16] } as const;
/** Codes of time exceeded: only the first, and not a packet that lacked a fragment, is a router's. */
const EXCEEDED_ON_THE_WAY = 0;
const TYPES = {
  4: { unreachable: 3, exceeded: 11 },
  6: { unreachable: 1, exceeded: 3 },
} as const;

export interface TraceReceiver {
  /** An answer to the echo request of that number. */
  answer(sequence: number, address: string, says: Says, atMs: number): void;
  /** The socket is of no use any more. Nothing follows. */
  broken(reason: string): void;
}

/** What became of one send. */
export type Sent =
  | { readonly ok: true; readonly atMs: number }
  | { readonly ok: false; readonly reason: string };

/**
 * A raw ICMP socket of one trace, through net-ping's addon as in raw-socket.ts: echo requests that
 * get so and so far, and whatever comes back about them. Modes: open, then closed for good.
 */
export class TraceSocket {
  readonly #family: Family;
  readonly #address: string;
  readonly #target: Buffer;
  readonly #clock: Clock;
  readonly #receiver: TraceReceiver;
  readonly #session: NetPingSession;
  readonly #socket: NetPingSocket;
  readonly #identifier = ownIdentifier();
  readonly #token = randomBytes(TOKEN_BYTES);
  #state: 'open' | 'closed' = 'open';

  /** @throws Error of the addon where the operating system does not allow a raw socket. */
  constructor(
    { family, address, target }: { family: Family; address: string; target: Buffer },
    netPing: NetPing,
    clock: Clock,
    receiver: TraceReceiver,
  ) {
    this.#family = family;
    this.#address = address;
    this.#target = target;
    this.#clock = clock;
    this.#receiver = receiver;
    const networkProtocol = netPing.NetworkProtocol[family === 4 ? 'IPv4' : 'IPv6'];
    this.#session = netPing.createSession({ networkProtocol, retries: 0 });
    this.#session.on('error', () => {
      // The socket says which of them was its last: 'close' follows.
    });
    this.#session.on('close', () => this.#broken('the raw ICMP socket was closed'));
    this.#socket = this.#session.getSocket();
    this.#setFilter();
    this.#socket.on('message', (packet, source) => this.#onMessage(packet, source));
  }

  /** `done` is called once, unless the socket is closed before. */
  send(sequence: number, ttl: number, done: (sent: Sent) => void): void {
    const echo = { identifier: this.#identifier, sequence };
    const packet = encodeEchoRequest(this.#family, echo, echoData(this.#token));
    const [level, option] = TTL_OPTION[this.#family];
    let atMs = this.#clock.monotonicMs();
    const beforeSend = (): void => {
      this.#socket.setOption(level, option, ttl);
      atMs = this.#clock.monotonicMs();
    };
    this.#socket.send(packet, 0, packet.length, this.#address, beforeSend, (error) => {
      if (this.#state === 'closed') return;
      done(error === null ? { ok: true, atMs } : { ok: false, reason: error.message });
    });
  }

  close(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#session.close();
  }

  #broken(reason: string): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#receiver.broken(reason);
  }

  /** No messages that are none of our business: each would wake us up. */
  #setFilter(): void {
    const { level, option, filter } = icmpFilter(this.#family);
    try {
      this.#socket.setOption(level, option, filter, filter.length);
    } catch {
      // Without it there is more to throw away here, and nothing else changes.
    }
  }

  #onMessage(packet: Buffer, from: string): void {
    if (this.#state === 'closed') return;
    try {
      const atMs = this.#clock.monotonicMs();
      const message = this.#family === 4 ? decodeIpPacket(4, packet)?.payload : packet;
      const source = addressBytes(from.replace(/%.*$/, ''));
      if (message === undefined || source === null) return;
      this.#readReply(message, source, atMs);
      this.#readError(message, source, atMs);
    } catch (error) {
      this.close();
      this.#receiver.broken(messageOf(error));
    }
  }

  #readReply(message: Buffer, source: Buffer, atMs: number): void {
    const reply = decodeEchoReply(this.#family, message);
    if (reply === null || !this.#isOurs(reply, TOKEN_BYTES)) return;
    this.#receiver.answer(reply.sequence, addressText(source), 'destination', atMs);
  }

  #readError(message: Buffer, source: Buffer, atMs: number): void {
    const [type, code] = message;
    const types = TYPES[this.#family];
    if (code === undefined || (type !== types.unreachable && type !== types.exceeded)) return;
    const quoted = decodeIpPacket(this.#family, message.subarray(ERROR_HEADER_BYTES));
    const request = quoted === null ? null : decodeQuotedRequest(this.#family, quoted.payload);
    if (quoted === null || request === null) return;
    // A router need not quote more than the header (RFC 792), which has no token.
    if (!quoted.destination.equals(this.#target) || !this.#isOurs(request, 0)) return;
    const says = this.#meaning(type === types.exceeded, code, source);
    if (says !== null) this.#receiver.answer(request.sequence, addressText(source), says, atMs);
  }

  #meaning(isExceeded: boolean, code: number, source: Buffer): Says | null {
    if (isExceeded) return code === EXCEEDED_ON_THE_WAY ? 'on the way' : null;
    return source.equals(this.#target) ? 'destination' : unreachableByCode(this.#family, code);
  }

  /** With the token, as far as it is there; of an answer at least `tokenBytes` must be. */
  #isOurs({ identifier, data }: EchoMessage, tokenBytes: number): boolean {
    const token = data.subarray(0, TOKEN_BYTES);
    return (
      identifier === this.#identifier &&
      token.length >= tokenBytes &&
      token.equals(this.#token.subarray(0, token.length))
    );
  }
}
