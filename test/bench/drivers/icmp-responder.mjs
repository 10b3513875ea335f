// Answers IPv4 echo requests that go into a TUN device of its own: run it inside a network
// namespace, as root. Each target's requests are held for the time that is set for it, and a packet
// socket beside the device tells when the kernel let each request out and each reply in: what lies
// between is the truth that measured round trips are compared with, and it does not depend on when
// this process got to run.
// Usage: node icmp-responder.mjs DEVICE HOLDS, where HOLDS is {address: milliseconds} as JSON.
// Prints a line "ready", and for each line on its input one line of JSON, {address: [milliseconds]}:
// how long each echo since the line before took, in the order of the replies. Ends with its input.
import { constants, openSync, readSync, writeSync } from 'node:fs';
import koffi from 'koffi';

const [device, holdsText] = process.argv.slice(2);
const holds = new Map(Object.entries(JSON.parse(holdsText)));

const TUNSETIFF = 0x400454ca;
const IFF_TUN_NO_PI = 0x1001;
const SIOCGIFINDEX = 0x8933;
const AF_PACKET = 17;
const SOCK_DGRAM_NONBLOCK = 2 | 0o4000;
const ETH_P_ALL_IN_NETWORK_ORDER = 0x0300;
const SOL_SOCKET = 1;
const SO_RCVBUFFORCE = 33;
const SO_TIMESTAMPNS = 35;
const PACKET_OUTGOING = 4;
const POLLIN = 1;
const STANDARD_INPUT = 0;
const REQUEST = 8;
const REPLY = 0;
const IPV4_HEADER_BYTES = 20;
const BUFFER_BYTES = 16 * 1024 * 1024;

const libc = koffi.load(null);
const ioctl = libc.func('int ioctl(int, ulong, void *)');
const poll = libc.func('int poll(void *, ulong, int)');
const readInto = libc.func('intptr_t read(int, void *, size_t)');
const socket = libc.func('int socket(int, int, int)');
const bind = libc.func('int bind(int, void *, uint32)');
const setsockopt = libc.func('int setsockopt(int, int, int, void *, uint32)');
const recvmsg = libc.func('intptr_t recvmsg(int, void *, int)');

const tun = openTun();
const tap = openTap();
const packet = Buffer.alloc(2048);
const tapped = messageBuffers();
/** Replies under way by the millisecond in which they are due. */
const due = new Map();
const left = new Map();
const took = new Map();
writeSync(1, 'ready\n');
serve();

function serve() {
  const watched = [tun, tap, STANDARD_INPUT];
  const pollFds = Buffer.alloc(watched.length * 8);
  for (const [at, fd] of watched.entries()) {
    pollFds.writeInt32LE(fd, at * 8);
    pollFds.writeInt16LE(POLLIN, at * 8 + 4);
  }
  let doneMs = Math.floor(performance.now());
  for (;;) {
    poll(pollFds, watched.length, due.size > 0 ? 1 : 1000);
    for (;;) {
      const bytes = readInto(tun, packet, packet.length);
      if (bytes <= 0) break;
      accept(packet.subarray(0, bytes));
    }
    const nowMs = Math.floor(performance.now());
    for (; doneMs <= nowMs; doneMs += 1) {
      for (const reply of due.get(doneMs) ?? []) writeSync(tun, reply);
      due.delete(doneMs);
    }
    while (readTap());
    if (pollFds.readInt16LE(2 * 8 + 6) !== 0 && !report()) return;
  }
}

/** The request itself, turned round. Its length and time to live stay, and so do their checksums. */
function accept(request) {
  const holdMs = holds.get(addressAt(request, 16));
  if (request[9] !== 1 || request[IPV4_HEADER_BYTES] !== REQUEST || holdMs === undefined) return;
  const reply = Buffer.from(request);
  request.copy(reply, 12, 16, 20);
  request.copy(reply, 16, 12, 16);
  reply[IPV4_HEADER_BYTES] = REPLY;
  // RFC 1624: the type has fallen by 8, so the ones' complement of the sum has risen by it.
  const sum = reply.readUInt16BE(IPV4_HEADER_BYTES + 2) + (REQUEST << 8);
  reply.writeUInt16BE((sum & 0xffff) + (sum >> 16), IPV4_HEADER_BYTES + 2);
  const atMs = Math.floor(performance.now() + holdMs) + 1;
  const sameMs = due.get(atMs);
  if (sameMs === undefined) due.set(atMs, [reply]);
  else sameMs.push(reply);
}

/** One packet that passed the device, with the kernel's stamp; false where there is none. */
function readTap() {
  const { header, name, control, data } = tapped;
  header.writeUInt32LE(name.length, 8);
  header.writeBigUInt64LE(BigInt(control.length), 40);
  const bytes = recvmsg(tap, header, 0);
  if (bytes < 0) return false;
  const stampNs = control.readBigInt64LE(16) * 1_000_000_000n + control.readBigInt64LE(24);
  note(data.subarray(0, bytes), name[10] === PACKET_OUTGOING, stampNs);
  return true;
}

function note(bytes, outgoing, stampNs) {
  if (bytes[9] !== 1 || bytes[IPV4_HEADER_BYTES] !== (outgoing ? REQUEST : REPLY)) return;
  const target = addressAt(bytes, outgoing ? 16 : 12);
  const key = `${target} ${bytes.readUInt32BE(IPV4_HEADER_BYTES + 4)}`;
  if (outgoing) {
    left.set(key, stampNs);
    return;
  }
  const leftNs = left.get(key);
  if (leftNs === undefined) return;
  left.delete(key);
  const tookMs = Number(stampNs - leftNs) / 1e6;
  const ofTarget = took.get(target);
  if (ofTarget === undefined) took.set(target, [tookMs]);
  else ofTarget.push(tookMs);
}

function addressAt(bytes, at) {
  return `${bytes[at]}.${bytes[at + 1]}.${bytes[at + 2]}.${bytes[at + 3]}`;
}

/** False where the input is at its end. */
function report() {
  if (readSync(STANDARD_INPUT, Buffer.alloc(64)) === 0) return false;
  const text = Buffer.from(`${JSON.stringify(Object.fromEntries(took))}\n`);
  for (let at = 0; at < text.length; at += writeSync(1, text, at));
  took.clear();
  left.clear();
  return true;
}

function openTun() {
  const fd = openSync('/dev/net/tun', constants.O_RDWR | constants.O_NONBLOCK);
  if (ioctl(fd, TUNSETIFF, interfaceRequest(IFF_TUN_NO_PI)) !== 0) fail('TUNSETIFF');
  return fd;
}

function openTap() {
  const fd = socket(AF_PACKET, SOCK_DGRAM_NONBLOCK, ETH_P_ALL_IN_NETWORK_ORDER);
  const request = interfaceRequest(0);
  if (ioctl(fd, SIOCGIFINDEX, request) !== 0) fail('SIOCGIFINDEX');
  const address = Buffer.alloc(20);
  address.writeUInt16LE(AF_PACKET, 0);
  address.writeUInt16LE(ETH_P_ALL_IN_NETWORK_ORDER, 2);
  address.writeInt32LE(request.readInt32LE(16), 4);
  if (bind(fd, address, address.length) !== 0) fail('bind');
  if (set(fd, SO_TIMESTAMPNS, 1) !== 0) fail('SO_TIMESTAMPNS');
  if (set(fd, SO_RCVBUFFORCE, BUFFER_BYTES) !== 0) fail('SO_RCVBUFFORCE');
  return fd;
}

function set(fd, option, number) {
  const value = Buffer.alloc(4);
  value.writeInt32LE(number);
  return setsockopt(fd, SOL_SOCKET, option, value, value.length);
}

function interfaceRequest(flags) {
  const request = Buffer.alloc(40);
  request.write(device);
  request.writeUInt16LE(flags, 16);
  return request;
}

function fail(what) {
  throw new Error(`${what} failed with errno ${koffi.errno()}`);
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
