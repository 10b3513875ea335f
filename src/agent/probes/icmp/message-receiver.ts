import type { Family } from '../../net/resolver.ts';
import { LINUX, type Libc } from './socket-calls.ts';

/** An ICMP error of the socket's error queue (struct sock_extended_err, ip(7)). */
interface QueuedError {
  readonly fromNetwork: boolean;
  readonly type: number;
  readonly code: number;
  /** Who sent the error; null if the kernel does not report it. */
  readonly offender: Buffer | null;
}

/** Ancillary data of a message. */
export interface Control {
  /** Time to live or hop limit. */
  readonly ttl: number | null;
  /** Arrival in the kernel, by the wall clock. */
  readonly stamp: { readonly seconds: number; readonly nanos: number } | null;
  readonly error: QueuedError | null;
}

export interface ReceivedMessage extends Control {
  /** The peer's address; for a message of the error queue the original destination's. */
  readonly address: Buffer;
  readonly data: Buffer;
}

/** Maximum number of messages per system call. */
const AREAS = 32;
// struct mmsghdr: struct msghdr, and the number of bytes received.
const HEADER_BYTES = 64;
const RECEIVED_AT = 56;
// Offsets in each area of the block of memory: struct iovec, and what that and the header point to.
const NAME_AT = 16;
const NAME_BYTES = 32;
const CONTROL_AT = NAME_AT + NAME_BYTES;
const CONTROL_BYTES = 256;
const DATA_AT = CONTROL_AT + CONTROL_BYTES;
const DATA_BYTES = 256;
const AREA_BYTES = DATA_AT + DATA_BYTES;

interface Area {
  readonly address: Buffer;
  readonly control: Buffer;
  readonly data: Buffer;
}

/**
 * Receives messages and their ancillary data through recvmmsg. Its memory is one block, so that
 * nothing it points to can be collected; results are views of it, valid until the next call. Longer
 * messages are cut at DATA_BYTES, which is more than echo replies and quoted requests have.
 */
export class MessageReceiver {
  readonly #libc: Libc;
  readonly #block = Buffer.alloc(AREAS * (HEADER_BYTES + AREA_BYTES));
  readonly #areas: readonly Area[];
  /** Number of headers that the kernel may have written to: their capacities must be reset. */
  #written = AREAS;

  constructor(libc: Libc, family: Family) {
    this.#libc = libc;
    const base = libc.addressOf(this.#block);
    this.#areas = Array.from({ length: AREAS }, (_, index) => this.#layOut(family, base, index));
  }

  /** At most AREAS messages, or the error's name: EAGAIN if there are none. */
  receive(fd: number, flags: number): readonly ReceivedMessage[] | string {
    const block = this.#block;
    for (let header = 0; header < this.#written * HEADER_BYTES; header += HEADER_BYTES) {
      block.writeUInt32LE(NAME_BYTES, header + 8);
      block.writeUInt32LE(CONTROL_BYTES, header + 40);
    }
    const count = this.#libc.receiveMessages(fd, block, AREAS, flags);
    this.#written = Math.min(Math.max(count, 0) + 1, AREAS);
    if (count < 0) return this.#libc.errorName();
    return this.#areas.slice(0, count).map((area, index) => this.#messageIn(area, index));
  }

  #messageIn({ address, control, data }: Area, index: number): ReceivedMessage {
    const header = index * HEADER_BYTES;
    const bytes = Math.min(this.#block.readUInt32LE(header + RECEIVED_AT), DATA_BYTES);
    const controlBytes = Math.min(this.#block.readUInt32LE(header + 40), CONTROL_BYTES);
    const { ttl, stamp, error } = parseControl(control, controlBytes);
    return { address, data: data.subarray(0, bytes), ttl, stamp, error };
  }

  #layOut(family: Family, base: bigint, index: number): Area {
    const header = index * HEADER_BYTES;
    const area = AREAS * HEADER_BYTES + index * AREA_BYTES;
    const block = this.#block;
    block.writeBigUInt64LE(base + BigInt(area + NAME_AT), header);
    block.writeBigUInt64LE(base + BigInt(area), header + 16);
    block.writeBigUInt64LE(1n, header + 24);
    block.writeBigUInt64LE(base + BigInt(area + CONTROL_AT), header + 32);
    block.writeBigUInt64LE(base + BigInt(area + DATA_AT), area);
    block.writeBigUInt64LE(BigInt(DATA_BYTES), area + 8);
    const view = (at: number, bytes: number): Buffer =>
      block.subarray(area + at, area + at + bytes);
    return {
      address: socketAddressBytes(family, view(NAME_AT, NAME_BYTES)),
      control: view(CONTROL_AT, CONTROL_BYTES),
      data: view(DATA_AT, DATA_BYTES),
    };
  }
}

function socketAddressBytes(family: Family, address: Buffer): Buffer {
  return family === 4 ? address.subarray(4, 8) : address.subarray(8, 24);
}

const CMSG_HEADER_BYTES = 16;

/** Reads the control messages (cmsg(3)) of 64-bit Linux; ignores unknown and cut ones. */
export function parseControl(control: Buffer, controlBytes: number = control.length): Control {
  let ttl: number | null = null;
  let stamp: Control['stamp'] = null;
  let error: QueuedError | null = null;
  for (let at = 0; at + CMSG_HEADER_BYTES <= controlBytes; ) {
    const length = control.readUInt32LE(at);
    if (length < CMSG_HEADER_BYTES || at + length > controlBytes) break;
    const level = control.readInt32LE(at + 8);
    const type = control.readInt32LE(at + 12);
    const bodyAt = at + CMSG_HEADER_BYTES;
    const bodyBytes = length - CMSG_HEADER_BYTES;
    if (isHopCount(level, type) && bodyBytes >= 4) ttl = control.readInt32LE(bodyAt);
    if (level === LINUX.SOL_SOCKET && type === LINUX.SO_TIMESTAMPNS && bodyBytes >= 16) {
      // Both have 64 bits: nanoseconds need only 32 of them, and seconds fit into a double.
      const seconds = control.readUInt32LE(bodyAt) + control.readInt32LE(bodyAt + 4) * 2 ** 32;
      stamp = { seconds, nanos: control.readUInt32LE(bodyAt + 8) };
    }
    if (isError(level, type) && bodyBytes >= 16) {
      error = parseError(control.subarray(bodyAt, bodyAt + bodyBytes));
    }
    at += Math.ceil(length / 8) * 8;
  }
  return { ttl, stamp, error };
}

function isHopCount(level: number, type: number): boolean {
  return (
    (level === LINUX.IPPROTO_IP && type === LINUX.IP_TTL) ||
    (level === LINUX.IPPROTO_IPV6 && type === LINUX.IPV6_HOPLIMIT)
  );
}

function isError(level: number, type: number): boolean {
  return (
    (level === LINUX.IPPROTO_IP && type === LINUX.IP_RECVERR) ||
    (level === LINUX.IPPROTO_IPV6 && type === LINUX.IPV6_RECVERR)
  );
}

/** Origins of struct sock_extended_err that mean an ICMP message rather than this host itself. */
const ORIGIN_ICMP = 2;
const ORIGIN_ICMP6 = 3;

function parseError(body: Buffer): QueuedError {
  const origin = body.readUInt8(4);
  const offender = body.subarray(16);
  const family = offender.length >= 2 ? offender.readUInt16LE(0) : 0;
  return {
    fromNetwork: origin === ORIGIN_ICMP || origin === ORIGIN_ICMP6,
    type: body.readUInt8(5),
    code: body.readUInt8(6),
    offender:
      family === LINUX.AF_INET && offender.length >= 16
        ? socketAddressBytes(4, offender)
        : family === LINUX.AF_INET6 && offender.length >= 24
          ? socketAddressBytes(6, offender)
          : null,
  };
}
