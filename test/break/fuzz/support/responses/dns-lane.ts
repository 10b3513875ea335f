import dgram from 'node:dgram';
import { once } from 'node:events';
import net from 'node:net';
import { TYPE_NUMBERS } from '../../../../../src/agent/net/dns/message/parameters.ts';
import { segmentsOf } from './bytes.ts';
import {
  ASKED_NAME,
  ASKED_TYPES,
  type AskedType,
  honestAnswer,
  withId,
  withIds,
} from './dns-messages.ts';

/** The messages of a name server to one probe. */
export interface DnsCase {
  readonly type: AskedType;
  readonly protocol: 'UDP' | 'TCP';
  readonly datagrams: readonly Buffer[];
  /** Sent for a question over TCP, also after a truncated datagram. */
  readonly stream: Buffer;
  readonly segments: readonly number[];
  /**
   * The continuation: an honest answer after `datagrams`, and the connection's end after `stream`;
   * or a reset of the connection; or silence until the deadline.
   */
  readonly ending: 'close' | 'reset' | 'silence';
}

/** The offset behind the header and the queried name, which is the same in all questions. */
const TYPE_AT = 12 + ASKED_NAME.length + 2;

/** A name server for one probe at a time, UDP and TCP on one port. It reads only ids. */
export class DnsLane {
  readonly #udp = dgram.createSocket('udp4');
  readonly #tcp = net.createServer({ noDelay: true }, (socket) => this.#serve(socket));
  readonly #open = new Set<net.Socket>();
  #case: DnsCase | null = null;

  get port(): number {
    return this.#udp.address().port;
  }

  async start(): Promise<void> {
    for (;;) {
      this.#tcp.listen(0, '127.0.0.1');
      await once(this.#tcp, 'listening');
      const { port } = this.#tcp.address() as net.AddressInfo;
      try {
        this.#udp.bind(port, '127.0.0.1');
        await once(this.#udp, 'listening');
        break;
      } catch {
        await new Promise((resolve) => this.#tcp.close(resolve));
      }
    }
    this.#udp.on('message', (question, from) => this.#answer(question, from));
    this.#udp.on('error', () => {});
  }

  /** Answers every question like this from now on. */
  serve(dnsCase: DnsCase): void {
    this.#case = dnsCase;
  }

  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((resolve) => this.#tcp.close(resolve));
    this.#udp.close();
    await once(this.#udp, 'close');
  }

  #answer(question: Buffer, from: dgram.RemoteInfo): void {
    const current = this.#case;
    if (current === null) return;
    const id = question.readUInt16BE(0);
    const type = ASKED_TYPES.find((each) => TYPE_NUMBERS[each] === question.readUInt16BE(TYPE_AT));
    const last = current.ending === 'silence' ? [] : [honestAnswer(type ?? current.type)];
    for (const message of [...current.datagrams, ...last]) {
      this.#udp.send(withId(message, id), from.port, from.address);
    }
  }

  #serve(socket: net.Socket): void {
    this.#open.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => this.#open.delete(socket));
    socket.once('data', (question) => {
      socket.resume();
      if (question.length >= 4) void this.#send(socket, question.readUInt16BE(2));
    });
  }

  async #send(socket: net.Socket, id: number): Promise<void> {
    const current = this.#case;
    if (current === null) return;
    for (const segment of segmentsOf(withIds(current.stream, id), current.segments)) {
      if (socket.destroyed) return;
      socket.write(segment);
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (current.ending === 'close') socket.end();
    if (current.ending === 'reset') socket.resetAndDestroy();
  }
}

/** Runs the work with this many lanes. */
export async function withDnsLanes(
  count: number,
  work: (lanes: readonly DnsLane[]) => Promise<void>,
): Promise<void> {
  const lanes = Array.from({ length: count }, () => new DnsLane());
  await Promise.all(lanes.map((lane) => lane.start()));
  try {
    await work(lanes);
  } finally {
    await Promise.all(lanes.map((lane) => lane.close()));
  }
}
