import { isIP } from 'node:net';
import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import { withoutZone } from '../../../runtime/net/endpoint-text.ts';
import type { Family } from '../../net/resolver.ts';
import { addressBytes, addressText, type Destination } from './address-bytes.ts';
import {
  decodeEchoReply,
  decodeQuotedRequest,
  encodeEchoRequest,
  unreachableReason,
} from './echo-packet.ts';
import { decodeIpPacket } from './ip-packet.ts';
import {
  type NetPing,
  type NetPingSession,
  type NetPingSocket,
  openRawSession,
  ownIdentifier,
} from './net-ping.ts';
import type { EchoReceiver, EchoSent, PingTransport } from './ping-transport.ts';

const ERROR_HEADER_BYTES = 8;
const SOL_SOCKET = 1;
const SO_RCVBUF = 8;
const BUFFER_BYTES = 4 * 1024 * 1024;
/** More packets than fit in a buffer of this size: the kernel counts 768 bytes or more for each. */
const MAX_PACKETS = 8192;
/** A callback may run after this iteration's read of the socket: the next one reads the rest. */
const QUIET_ITERATIONS = 2;

/**
 * A raw ICMP socket through net-ping's addon, which needs CAP_NET_RAW. Uses only the socket of a
 * session, and makes, matches and times packets itself: a session measures whole milliseconds, and
 * its packets have no data of ours. Reports no hop limit for IPv6 and no kernel timestamps: the
 * addon does not read ancillary data, and does not expose its descriptor.
 */
export class RawSocket implements PingTransport {
  readonly name = 'a raw socket (net-ping)';
  readonly #family: Family;
  readonly #clock: Clock;
  readonly #receiver: EchoReceiver;
  readonly #session: NetPingSession;
  readonly #socket: NetPingSocket;
  /** Chosen by us, unlike on a ping socket; the token tells packets of others apart. */
  readonly #identifier = ownIdentifier();
  #packets = 0;
  #state: 'open' | 'closed' = 'open';

  /** @throws Error of the addon if the operating system does not allow a raw socket. */
  constructor(family: Family, netPing: NetPing, clock: Clock, receiver: EchoReceiver) {
    this.#family = family;
    this.#clock = clock;
    this.#receiver = receiver;
    const onClose = (): void => this.#broken('the raw ICMP socket was closed');
    const { session, socket } = openRawSession(netPing, family, onClose);
    this.#session = session;
    this.#socket = socket;
    try {
      socket.setOption(SOL_SOCKET, SO_RCVBUF, BUFFER_BYTES);
    } catch {
      // With a smaller buffer, replies may be lost while the event loop is busy.
    }
    socket.on('message', (packet, source) => this.#onMessage(packet, source));
  }

  send(
    { address }: Destination,
    sequence: number,
    data: Uint8Array,
    done: (sent: EchoSent) => void,
  ): void {
    const echo = { identifier: this.#identifier, sequence };
    const packet = encodeEchoRequest(this.#family, echo, data);
    let sentAtMs = this.#clock.monotonicMs();
    const stamp = (): void => {
      sentAtMs = this.#clock.monotonicMs();
    };
    this.#socket.send(packet, 0, packet.length, address, stamp, (error) => {
      const tookMs = this.#clock.monotonicMs() - sentAtMs;
      if (error === null) done({ kind: 'sent', sentAtMs, tookMs });
      else done({ kind: 'refused', reason: `the operating system refuses it: ${error.message}` });
    });
  }

  /** The addon reads one packet in each event-loop iteration. */
  drain(done: () => void): void {
    let packets = this.#packets;
    let quiet = 0;
    const next = (left: number): void => {
      quiet = this.#packets === packets ? quiet + 1 : 0;
      packets = this.#packets;
      if (quiet === QUIET_ITERATIONS || left === 0) done();
      else setImmediate(next, left - 1);
    };
    setImmediate(next, MAX_PACKETS);
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

  #onMessage(packet: Buffer, source: string): void {
    this.#packets += 1;
    try {
      const ip = this.#family === 4 ? decodeIpPacket(4, packet) : null;
      const message = this.#family === 4 ? ip?.payload : packet;
      if (message === undefined) return;
      if (!this.#deliverReply(message, source, ip?.ttl ?? null))
        this.#deliverError(message, source);
    } catch (error) {
      this.close();
      this.#receiver.broken(messageOf(error));
    }
  }

  #deliverReply(message: Buffer, from: string, ttl: number | null): boolean {
    const reply = decodeEchoReply(this.#family, message);
    if (reply === null) return false;
    const source = addressBytes(withoutZone(from));
    if (source !== null && reply.identifier === this.#identifier) {
      const { sequence, data } = reply;
      this.#receiver.reply({ sequence, source, data, ttl, waitedMs: null });
    }
    return true;
  }

  #deliverError(message: Buffer, from: string): void {
    const [type, code] = message;
    if (type === undefined || code === undefined) return;
    const reason = unreachableReason(this.#family, type, code);
    const quoted = decodeIpPacket(this.#family, message.subarray(ERROR_HEADER_BYTES));
    const request = quoted === null ? null : decodeQuotedRequest(this.#family, quoted.payload);
    if (reason === null || quoted === null || request === null) return;
    if (request.identifier !== this.#identifier) return;
    const by = isIP(from) === 0 ? '' : `, says ${addressText(addressBytes(from) ?? quoted.source)}`;
    const { sequence, data } = request;
    this.#receiver.error({ sequence, target: quoted.destination, data, reason: reason + by });
  }
}
