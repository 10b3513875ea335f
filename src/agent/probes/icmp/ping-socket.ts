import type { CancelTimer, Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Family } from '../../net/resolver.ts';
import { addressText, type Destination } from './address-bytes.ts';
import { decodeEchoReply, decodeQuotedRequest, unreachableReason } from './echo-packet.ts';
import { MessageReceiver, type ReceivedMessage } from './message-receiver.ts';
import { MessageSender } from './message-sender.ts';
import type { EchoReceiver, EchoSent, PingTransport } from './ping-transport.ts';
import { LINUX, type Libc, type PollHandle } from './socket-calls.ts';

/** The kernel may give less. Hundreds of replies can arrive while our event loop is busy. */
const BUFFER_BYTES = 4 * 1024 * 1024;
/** Messages read in one event-loop iteration; the rest wait for the next, so nothing starves. */
const MESSAGES_PER_ITERATION = 1024;
/**
 * After this many sends in a row, replies are read: with the usual kernel limits the receive buffer
 * has space for about 500, and near targets answer within the same event-loop iteration.
 */
const SENDS_BETWEEN_READS = 64;
/** If the socket's send buffer is full: number of retries, and the delay between them. */
const SEND_TRIES = 20;
const SEND_RETRY_MS = 5;

/** Two clocks are read within CLOCKS_APART_MS of each other; at most CLOCK_READINGS attempts. */
const CLOCKS_APART_MS = 0.02;
const CLOCK_READINGS = 3;

const FAMILY = { 4: LINUX.AF_INET, 6: LINUX.AF_INET6 } as const;
const PROTOCOL = { 4: LINUX.IPPROTO_ICMP, 6: LINUX.IPPROTO_ICMPV6 } as const;

export type OpenedPingSocket =
  | { readonly ok: true; readonly socket: PingSocket }
  /** The name of a system call's error, or else what went wrong. */
  | { readonly ok: false; readonly reason: string };

/** A request to send again, with a copy of its data: the caller reuses the buffer. */
interface Unsent {
  readonly destination: Destination;
  readonly sequence: number;
  readonly data: Uint8Array;
  readonly done: (sent: EchoSent) => void;
}

/**
 * Linux's unprivileged ICMP socket, icmp(7): open to the groups in net.ipv4.ping_group_range. The
 * kernel sets identifier and checksum and hands us only the replies to this socket. recvmsg rather
 * than node:dgram, because it also returns each reply's time to live, the time of its arrival in
 * the kernel (so a stall of our own event loop is not measured as the target's), and the errors
 * that routers sent.
 */
export class PingSocket implements PingTransport {
  readonly name = 'an unprivileged ICMP socket';
  readonly #libc: Libc;
  readonly #family: Family;
  readonly #fd: number;
  readonly #clock: Clock;
  readonly #receiver: EchoReceiver;
  readonly #sender: MessageSender;
  readonly #messages: MessageReceiver;
  readonly #poll: PollHandle;
  readonly #timespec = Buffer.alloc(16);
  readonly #retries = new Set<CancelTimer>();
  #sendsSinceRead = 0;
  #reading: 'idle' | 'scheduled' = 'idle';
  #readAtMs = 0;
  #draining = false;
  #state: 'open' | 'closed' = 'open';

  static open(family: Family, libc: Libc, clock: Clock, receiver: EchoReceiver): OpenedPingSocket {
    const type = LINUX.SOCK_DGRAM | LINUX.SOCK_NONBLOCK | LINUX.SOCK_CLOEXEC;
    const fd = libc.socket(FAMILY[family], type, PROTOCOL[family]);
    if (fd < 0) return { ok: false, reason: libc.errorName() };
    try {
      return { ok: true, socket: new PingSocket(family, fd, libc, clock, receiver) };
    } catch (error) {
      libc.close(fd);
      return { ok: false, reason: messageOf(error) };
    }
  }

  private constructor(
    family: Family,
    fd: number,
    libc: Libc,
    clock: Clock,
    receiver: EchoReceiver,
  ) {
    this.#libc = libc;
    this.#family = family;
    this.#fd = fd;
    this.#clock = clock;
    this.#receiver = receiver;
    this.#sender = new MessageSender(libc, family);
    this.#messages = new MessageReceiver(libc, family);
    this.#setOptions();
    this.#poll = libc.poll(fd, () => this.#scheduleRead());
  }

  send(
    destination: Destination,
    sequence: number,
    data: Uint8Array,
    done: (sent: EchoSent) => void,
  ): void {
    if (this.#trySend(destination, sequence, data, done)) return;
    const unsent = { destination, sequence, data: Buffer.from(data), done };
    // An ICMP error about a packet of any run makes the next send fail once.
    this.#read();
    this.#trySendAgain(unsent, 2);
  }

  drain(done: () => void): void {
    this.#read();
    done();
  }

  /** Reads replies that have arrived, about MESSAGES_PER_ITERATION, and the error queue. */
  #read(): void {
    // A send in response to a reply calls this again while messages are still being delivered.
    if (this.#state === 'closed' || this.#draining) return;
    this.#draining = true;
    try {
      this.#sendsSinceRead = 0;
      this.#readErrors();
      this.#readReplies();
    } finally {
      this.#draining = false;
    }
  }

  close(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    for (const cancel of this.#retries) cancel();
    this.#retries.clear();
    this.#poll.close();
    this.#libc.close(this.#fd);
  }

  #setOptions(): void {
    const set = (level: number, option: number, value: number): number =>
      this.#libc.setOption(this.#fd, level, option, value);
    set(LINUX.SOL_SOCKET, LINUX.SO_RCVBUF, BUFFER_BYTES);
    set(LINUX.SOL_SOCKET, LINUX.SO_SNDBUF, BUFFER_BYTES);
    set(LINUX.SOL_SOCKET, LINUX.SO_TIMESTAMPNS, 1);
    if (this.#family === 4) {
      set(LINUX.IPPROTO_IP, LINUX.IP_RECVTTL, 1);
      set(LINUX.IPPROTO_IP, LINUX.IP_RECVERR, 1);
    } else {
      set(LINUX.IPPROTO_IPV6, LINUX.IPV6_RECVHOPLIMIT, 1);
      set(LINUX.IPPROTO_IPV6, LINUX.IPV6_RECVERR, 1);
    }
  }

  /** false if the kernel did not accept it; errorName of libc has the reason. */
  #trySend(
    destination: Destination,
    sequence: number,
    data: Uint8Array,
    done: (sent: EchoSent) => void,
  ): boolean {
    if (this.#state === 'closed') {
      done({ kind: 'fault', reason: 'the ICMP socket was closed' });
      return true;
    }
    const sentAtMs = this.#clock.monotonicMs();
    if (this.#sender.send(this.#fd, destination, sequence, data) < 0) return false;
    done({ kind: 'sent', sentAtMs, tookMs: this.#clock.monotonicMs() - sentAtMs });
    this.#sendsSinceRead += 1;
    if (this.#sendsSinceRead >= SENDS_BETWEEN_READS) this.#read();
    return true;
  }

  #trySendAgain(unsent: Unsent, attempt: number): void {
    const { destination, sequence, data, done } = unsent;
    if (this.#trySend(destination, sequence, data, done)) return;
    const errorName = this.#libc.errorName();
    if (!isOutOfBuffers(errorName)) {
      done({ kind: 'refused', reason: refusal(errorName) });
    } else if (attempt < SEND_TRIES) {
      const cancel = this.#clock.after(SEND_RETRY_MS, () => {
        this.#retries.delete(cancel);
        this.#trySendAgain(unsent, attempt + 1);
      });
      this.#retries.add(cancel);
    } else {
      done({ kind: 'fault', reason: `this host has no buffers left to send with (${errorName})` });
    }
  }

  #scheduleRead(): void {
    if (this.#reading === 'scheduled' || this.#state === 'closed') return;
    this.#reading = 'scheduled';
    setImmediate(() => {
      this.#reading = 'idle';
      try {
        this.#read();
      } catch (error) {
        this.close();
        this.#receiver.broken(messageOf(error));
      }
    });
  }

  #readReplies(): void {
    for (let count = 0; this.#state === 'open' && count < MESSAGES_PER_ITERATION; ) {
      const messages = this.#messages.receive(this.#fd, 0);
      if (messages === 'EAGAIN') return;
      if (typeof messages === 'string') {
        // The error of an earlier packet, reported once here and in full on the error queue.
        count += 1;
        this.#readErrors();
        continue;
      }
      count += messages.length;
      this.#readClocks();
      for (const message of messages) this.#deliverReply(message);
    }
  }

  #readErrors(): void {
    for (let count = 0; this.#state === 'open' && count < MESSAGES_PER_ITERATION; ) {
      const messages = this.#messages.receive(this.#fd, LINUX.MSG_ERRQUEUE);
      if (typeof messages === 'string') return;
      count += messages.length;
      for (const message of messages) this.#deliverError(message);
    }
  }

  #deliverReply(message: ReceivedMessage): void {
    const reply = decodeEchoReply(this.#family, message.data);
    if (reply === null) return;
    const waitedMs = message.stamp === null ? null : this.#sinceMs(message.stamp);
    const { sequence, data } = reply;
    const { address: source, ttl } = message;
    this.#receiver.reply({ sequence, source, data, ttl, waitedMs });
  }

  #deliverError({ address: target, data: quoted, error }: ReceivedMessage): void {
    const request = decodeQuotedRequest(this.#family, quoted);
    if (error === null || !error.fromNetwork || request === null) return;
    const reason = unreachableReason(this.#family, error.type, error.code);
    if (reason === null) return;
    const by = error.offender === null ? '' : `, says ${addressText(error.offender)}`;
    const { sequence, data } = request;
    this.#receiver.error({ sequence, target, data, reason: reason + by });
  }

  /**
   * Reads the wall clock and the monotonic clock at one instant, for all messages of one read.
   * Reads both again after a delay between the two, which would count as the targets' time.
   */
  #readClocks(): void {
    for (let reading = 0; reading < CLOCK_READINGS; reading += 1) {
      const beforeMs = this.#clock.monotonicMs();
      this.#libc.realTime(this.#timespec);
      this.#readAtMs = this.#clock.monotonicMs();
      if (this.#readAtMs - beforeMs < CLOCKS_APART_MS) return;
    }
  }

  /** Seconds and nanoseconds separately: a double cannot represent their sum exactly. */
  #sinceMs(stamp: { readonly seconds: number; readonly nanos: number }): number {
    const seconds = Number(this.#timespec.readBigInt64LE(0)) - stamp.seconds;
    const nanos = this.#timespec.readUInt32LE(8) - stamp.nanos;
    return seconds * 1000 + nanos / 1e6 + (this.#clock.monotonicMs() - this.#readAtMs);
  }
}

function isOutOfBuffers(errorName: string): boolean {
  return errorName === 'EAGAIN' || errorName === 'ENOBUFS' || errorName === 'ENOMEM';
}

const REFUSALS: Readonly<Record<string, string>> = {
  ENETUNREACH: 'this host has no route to the network',
  EHOSTUNREACH: 'this host has no route to it',
  ENETDOWN: 'the network interface is down',
  EACCES: 'a route or rule of this host prohibits it',
  EPERM: "this host's firewall refuses it",
  EADDRNOTAVAIL: 'this host has no address to send from',
  EINVAL: 'the address cannot be sent to',
};

function refusal(errorName: string): string {
  return `${REFUSALS[errorName] ?? 'the operating system refuses the packet'} (${errorName})`;
}
