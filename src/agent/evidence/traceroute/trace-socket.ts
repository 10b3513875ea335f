import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import { withoutZone } from '../../../runtime/net/endpoint-text.ts';
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
import {
  type NetPing,
  type NetPingSession,
  type NetPingSocket,
  openRawSession,
  ownIdentifier,
} from '../../probes/icmp/net-ping.ts';
import type { Meaning } from './engine.ts';
import { unreachableByCode } from './unreachable.ts';

const ERROR_HEADER_BYTES = 8;
/** setsockopt's level and option: IP_TTL of ip(7), IPV6_UNICAST_HOPS of ipv6(7). */
const TTL_OPTION = { 4: [0, 2], 6: [41, 16] } as const;
/** The code of "time exceeded" from a router on the way. The others concern fragments. */
const EXCEEDED_ON_THE_WAY = 0;
const TYPES = {
  4: { unreachable: 3, exceeded: 11 },
  6: { unreachable: 1, exceeded: 3 },
} as const;

export interface TraceReceiver {
  answer(sequence: number, address: string, meaning: Meaning, atMs: number): void;
  /** The socket broke. Nothing follows. */
  broken(reason: string): void;
}

export type ProbeSent =
  | { readonly ok: true; readonly atMs: number }
  | { readonly ok: false; readonly reason: string };

/**
 * The raw ICMP socket of one trace, through net-ping's addon as in raw-socket.ts: sends echo
 * requests with a limited number of hops and receives the replies and errors about them.
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

  /** @throws Error of the addon if the operating system does not allow a raw socket. */
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
    const onClose = (): void => this.#broken('the raw ICMP socket was closed');
    const { session, socket } = openRawSession(netPing, family, onClose);
    this.#session = session;
    this.#socket = socket;
    socket.on('message', (packet, source) => this.#onMessage(packet, source));
  }

  /** `done` is called once, unless the socket is closed before. */
  send(sequence: number, ttl: number, done: (sent: ProbeSent) => void): void {
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

  #onMessage(packet: Buffer, from: string): void {
    if (this.#state === 'closed') return;
    try {
      const atMs = this.#clock.monotonicMs();
      const message = this.#family === 4 ? decodeIpPacket(4, packet)?.payload : packet;
      const source = addressBytes(withoutZone(from));
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
    // A router may quote only the header (RFC 792), which contains no token.
    if (!quoted.destination.equals(this.#target) || !this.#isOurs(request, 0)) return;
    const meaning = this.#meaningOf(type === types.exceeded, code, source);
    if (meaning !== null)
      this.#receiver.answer(request.sequence, addressText(source), meaning, atMs);
  }

  #meaningOf(isExceeded: boolean, code: number, source: Buffer): Meaning | null {
    if (isExceeded) return code === EXCEEDED_ON_THE_WAY ? 'on the way' : null;
    return source.equals(this.#target) ? 'destination' : unreachableByCode(this.#family, code);
  }

  /** Has our identifier, and our token as far as it is there, which is at least `tokenBytes`. */
  #isOurs({ identifier, data }: EchoMessage, tokenBytes: number): boolean {
    const token = data.subarray(0, TOKEN_BYTES);
    return (
      identifier === this.#identifier &&
      token.length >= tokenBytes &&
      token.equals(this.#token.subarray(0, token.length))
    );
  }
}
