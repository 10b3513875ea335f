import type { Family } from '../../net/resolver.ts';
import { LINUX, type Libc } from './libc.ts';

/** What an ICMP error on the socket's error queue says (struct sock_extended_err, ip(7)). */
interface QueuedError {
  readonly fromNetwork: boolean;
  readonly type: number;
  readonly code: number;
  /** Who sent the error; null where the kernel does not tell. */
  readonly offender: Buffer | null;
}

/** What comes beside a message. */
export interface Control {
  /** Time to live or hop limit. */
  readonly ttl: number | null;
  /** When the kernel had the packet, by the wall clock. */
  readonly stamp: { readonly seconds: number; readonly nanos: number } | null;
  readonly error: QueuedError | null;
}

export interface ReceivedMessage extends Control {
  /** The peer's address; for a message of the error queue the original destination's. */
  readonly address: Buffer;
  readonly data: Buffer;
}

// Offsets in one block of memory: struct msghdr, struct iovec, and what they point to.
const IOVEC_AT = 56;
const NAME_AT = 72;
const NAME_BYTES = 128;
const CONTROL_AT = NAME_AT + NAME_BYTES;
const CONTROL_BYTES = 512;
const DATA_AT = CONTROL_AT + CONTROL_BYTES;
const DATA_BYTES = 2048;

/**
 * Receives single messages through recvmsg, with what the kernel tells beside them. Its memory is
 * one block, so that nothing it points to can be collected; results are views of it, valid until
 * the next call.
 */
export class MessageReceiver {
  readonly #libc: Libc;
  readonly #family: Family;
  readonly #block = Buffer.alloc(DATA_AT + DATA_BYTES);

  constructor(libc: Libc, family: Family) {
    this.#libc = libc;
    this.#family = family;
    const block = this.#block;
    const base = libc.addressOf(block);
    block.writeBigUInt64LE(base + BigInt(NAME_AT), 0);
    block.writeBigUInt64LE(base + BigInt(IOVEC_AT), 16);
    block.writeBigUInt64LE(1n, 24);
    block.writeBigUInt64LE(base + BigInt(CONTROL_AT), 32);
    block.writeBigUInt64LE(base + BigInt(DATA_AT), IOVEC_AT);
    block.writeBigUInt64LE(BigInt(DATA_BYTES), IOVEC_AT + 8);
  }

  /** The next message, or the error's name: EAGAIN where there is none. */
  receive(fd: number, flags: number): ReceivedMessage | string {
    const block = this.#block;
    block.writeUInt32LE(NAME_BYTES, 8);
    block.writeBigUInt64LE(BigInt(CONTROL_BYTES), 40);
    block.writeUInt32LE(0, 48);
    const bytes = this.#libc.receiveMessage(fd, block, flags);
    if (bytes < 0) return this.#libc.errorName();
    const controlBytes = Math.min(Number(block.readBigUInt64LE(40)), CONTROL_BYTES);
    return {
      address: socketAddressBytes(this.#family, block.subarray(NAME_AT, CONTROL_AT)),
      data: block.subarray(DATA_AT, DATA_AT + Math.min(bytes, DATA_BYTES)),
      ...parseControl(block.subarray(CONTROL_AT, CONTROL_AT + controlBytes)),
    };
  }
}

/** The address in a struct sockaddr_in or sockaddr_in6. */
function socketAddressBytes(family: Family, address: Buffer): Buffer {
  return family === 4 ? address.subarray(4, 8) : address.subarray(8, 24);
}

const CMSG_HEADER_BYTES = 16;

/** Walks the control messages (cmsg(3)) of 64-bit Linux; unknown and cut ones are passed over. */
export function parseControl(control: Buffer): Control {
  let ttl: number | null = null;
  let stamp: Control['stamp'] = null;
  let error: QueuedError | null = null;
  for (let at = 0; at + CMSG_HEADER_BYTES <= control.length; ) {
    const length = control.readUInt32LE(at);
    if (length < CMSG_HEADER_BYTES || at + length > control.length) break;
    const level = control.readInt32LE(at + 8);
    const type = control.readInt32LE(at + 12);
    const body = control.subarray(at + CMSG_HEADER_BYTES, at + length);
    if (isHopCount(level, type) && body.length >= 4) ttl = body.readInt32LE(0);
    if (level === LINUX.SOL_SOCKET && type === LINUX.SO_TIMESTAMPNS && body.length >= 16) {
      stamp = { seconds: Number(body.readBigInt64LE(0)), nanos: Number(body.readBigInt64LE(8)) };
    }
    if (isError(level, type) && body.length >= 16) error = parseError(body);
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
