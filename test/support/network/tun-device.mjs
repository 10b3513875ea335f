import { constants, openSync, writeSync } from 'node:fs';
import koffi from 'koffi';

/**
 * A TUN device with a packet socket: the time between two timestamps of the packet socket is the
 * reference for measured times, independent of this process's scheduling. For programs that run
 * inside a network namespace as root.
 */

const TUNSETIFF = 0x400454ca;
const IFF_TUN_NO_PI = 0x1001;
const SIOCGIFINDEX = 0x8933;
const AF_PACKET = 17;
const SOCK_DGRAM_NONBLOCK = 2 | 0o4000;
const ETH_P_ALL_IN_NETWORK_ORDER = 0x0300;
const SOL_SOCKET = 1;
const SO_RCVBUFFORCE = 33;
const SO_TIMESTAMPNS = 35;
const SOL_PACKET = 263;
const PACKET_STATISTICS = 6;
const PACKET_OUTGOING = 4;
const POLLIN = 1;
const POLL_FD_BYTES = 8;
const BUFFER_BYTES = 16 * 1024 * 1024;
const STANDARD_INPUT = 0;
const PACKET_BYTES = 2048;

const libc = koffi.load(null);
const ioctl = libc.func('int ioctl(int, ulong, void *)');
const poll = libc.func('int poll(void *, ulong, int)');
const read = libc.func('intptr_t read(int, void *, size_t)');
const socket = libc.func('int socket(int, int, int)');
const bind = libc.func('int bind(int, void *, uint32)');
const setsockopt = libc.func('int setsockopt(int, int, int, void *, uint32)');
const getsockopt = libc.func('int getsockopt(int, int, int, void *, void *)');
const recvmsg = libc.func('intptr_t recvmsg(int, void *, int)');

/** Opens a device of this name as a non-blocking descriptor. It is removed with the process. */
export function openTun(device) {
  const fd = openSync('/dev/net/tun', constants.O_RDWR | constants.O_NONBLOCK);
  if (ioctl(fd, TUNSETIFF, interfaceRequest(device, IFF_TUN_NO_PI)) !== 0) fail('TUNSETIFF');
  return fd;
}

/** Reads one packet into the buffer. Returns its length, or less than 1 if there is none. */
export function readPacket(fd, buffer) {
  return read(fd, buffer, buffer.length);
}

/** Waits until one of the descriptors is readable, at most this long. Returns the readable ones. */
export function waitFor(fds, timeoutMs) {
  const asked = Buffer.alloc(fds.length * POLL_FD_BYTES);
  for (const [at, fd] of fds.entries()) {
    asked.writeInt32LE(fd, at * POLL_FD_BYTES);
    asked.writeInt16LE(POLLIN, at * POLL_FD_BYTES + 4);
  }
  poll(asked, fds.length, timeoutMs);
  return fds.map((_, at) => asked.readInt16LE(at * POLL_FD_BYTES + 6) !== 0);
}

/** All packets of the device, with the kernel's timestamps. */
export class Tap {
  #fd;
  #buffers = messageBuffers();

  constructor(device) {
    this.#fd = socket(AF_PACKET, SOCK_DGRAM_NONBLOCK, ETH_P_ALL_IN_NETWORK_ORDER);
    const request = interfaceRequest(device, 0);
    if (ioctl(this.#fd, SIOCGIFINDEX, request) !== 0) fail('SIOCGIFINDEX');
    const address = Buffer.alloc(20);
    address.writeUInt16LE(AF_PACKET, 0);
    address.writeUInt16LE(ETH_P_ALL_IN_NETWORK_ORDER, 2);
    address.writeInt32LE(request.readInt32LE(16), 4);
    if (bind(this.#fd, address, address.length) !== 0) fail('bind');
    this.#set(SO_TIMESTAMPNS, 1);
    this.#set(SO_RCVBUFFORCE, BUFFER_BYTES);
  }

  get fd() {
    return this.#fd;
  }

  /**
   * Calls back with each waiting packet: its bytes, valid until the next one; whether it was
   * outgoing; nanoseconds of the wall clock.
   */
  readAll(onPacket) {
    const { header, name, control, data } = this.#buffers;
    for (;;) {
      header.writeUInt32LE(name.length, 8);
      header.writeBigUInt64LE(BigInt(control.length), 40);
      const bytes = recvmsg(this.#fd, header, 0);
      if (bytes < 0) return;
      const stampNs = control.readBigInt64LE(16) * 1_000_000_000n + control.readBigInt64LE(24);
      onPacket(data.subarray(0, bytes), name[10] === PACKET_OUTGOING, stampNs);
    }
  }

  /** How many packets the kernel has dropped since the last call. */
  lost() {
    const counts = Buffer.alloc(8);
    const length = Buffer.from([8, 0, 0, 0]);
    if (getsockopt(this.#fd, SOL_PACKET, PACKET_STATISTICS, counts, length) !== 0) {
      fail('PACKET_STATISTICS');
    }
    return counts.readUInt32LE(4);
  }

  #set(option, number) {
    const value = Buffer.alloc(4);
    value.writeInt32LE(number);
    if (setsockopt(this.#fd, SOL_SOCKET, option, value, value.length) !== 0) fail('setsockopt');
  }
}

/**
 * Serves a device until `onAsked`, which is called when standard input is readable, returns false:
 * calls `onPacket` with each packet, writes the packets of `due` (by the whole millisecond of the
 * monotonic clock) at their time, and calls `onStamp` with each packet of the tap.
 */
export function serveTun({ tun, tap, due, onPacket, onStamp, onAsked }) {
  const packet = Buffer.alloc(PACKET_BYTES);
  let doneMs = Math.floor(performance.now());
  for (;;) {
    const [, , isAsked] = waitFor([tun, tap.fd, STANDARD_INPUT], due.size > 0 ? 1 : 1000);
    for (;;) {
      const bytes = readPacket(tun, packet);
      if (bytes <= 0) break;
      onPacket(packet.subarray(0, bytes));
    }
    const nowMs = Math.floor(performance.now());
    for (; doneMs <= nowMs; doneMs += 1) {
      for (const held of due.get(doneMs) ?? []) writeSync(tun, held);
      due.delete(doneMs);
    }
    tap.readAll(onStamp);
    if (isAsked && !onAsked()) return;
  }
}

function interfaceRequest(device, flags) {
  const request = Buffer.alloc(40);
  request.write(device);
  request.writeUInt16LE(flags, 16);
  return request;
}

function messageBuffers() {
  const [header, vector, name, control, data] = [56, 16, 32, 128, 2048].map((size) =>
    Buffer.alloc(size),
  );
  header.writeBigUInt64LE(koffi.address(name), 0);
  header.writeBigUInt64LE(koffi.address(vector), 16);
  header.writeBigUInt64LE(1n, 24);
  header.writeBigUInt64LE(koffi.address(control), 32);
  vector.writeBigUInt64LE(koffi.address(data), 0);
  vector.writeBigUInt64LE(BigInt(data.length), 8);
  return { header, vector, name, control, data };
}

function fail(what) {
  throw new Error(`${what} failed with errno ${koffi.errno()}`);
}
