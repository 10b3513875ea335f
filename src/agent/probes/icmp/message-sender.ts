import type { Family } from '../../net/resolver.ts';
import type { Destination } from './address-bytes.ts';
import { ECHO_DATA_BYTES, encodeEchoRequest } from './echo-packet.ts';
import { LINUX, type Libc } from './socket-calls.ts';

// Offsets in one block of memory: struct msghdr, struct iovec, and what they point to.
const IOVEC_AT = 56;
const NAME_AT = 72;
const NAME_BYTES = 32;
const PACKET_AT = NAME_AT + NAME_BYTES;
const SEQUENCE_AT = PACKET_AT + 6;
const DATA_AT = PACKET_AT + 8;
const PACKET_BYTES = 8 + ECHO_DATA_BYTES;

/**
 * Sends echo requests through sendmsg from one block of memory, and writes only what differs:
 * separate buffers and their garbage collection took longer than the kernel.
 */
export class MessageSender {
  readonly #libc: Libc;
  readonly #addressAt: number;
  readonly #scopeAt: number | null;
  readonly #block = Buffer.alloc(PACKET_AT + PACKET_BYTES);

  constructor(libc: Libc, family: Family) {
    this.#libc = libc;
    this.#addressAt = NAME_AT + (family === 4 ? 4 : 8);
    this.#scopeAt = family === 4 ? null : NAME_AT + 24;
    const block = this.#block;
    const base = libc.addressOf(block);
    block.writeBigUInt64LE(base + BigInt(NAME_AT), 0);
    block.writeUInt32LE(family === 4 ? 16 : 28, 8);
    block.writeBigUInt64LE(base + BigInt(IOVEC_AT), 16);
    block.writeBigUInt64LE(1n, 24);
    block.writeBigUInt64LE(base + BigInt(PACKET_AT), IOVEC_AT);
    block.writeBigUInt64LE(BigInt(PACKET_BYTES), IOVEC_AT + 8);
    // struct sockaddr_in or sockaddr_in6. The port is ignored, but some kernels refuse 0.
    block.writeUInt16LE(family === 4 ? LINUX.AF_INET : LINUX.AF_INET6, NAME_AT);
    block.writeUInt16BE(1, NAME_AT + 2);
    const echo = { identifier: 0, sequence: 0 };
    block.set(encodeEchoRequest(family, echo, Buffer.alloc(ECHO_DATA_BYTES)), PACKET_AT);
  }

  /**
   * Hands one request to the kernel, which sets its identifier and its checksum.
   *
   * @param data ECHO_DATA_BYTES long
   * @returns a negative number on an error; see the library's errorName
   */
  send(fd: number, { bytes, scopeId }: Destination, sequence: number, data: Uint8Array): number {
    const block = this.#block;
    block.set(bytes, this.#addressAt);
    if (this.#scopeAt !== null) block.writeUInt32LE(scopeId, this.#scopeAt);
    block.writeUInt16BE(sequence, SEQUENCE_AT);
    block.set(data, DATA_AT);
    return this.#libc.sendMessage(fd, block, 0);
  }
}
