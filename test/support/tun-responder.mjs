// Answers echo requests on a TUN device of its own, for the system tests: run it inside a network
// namespace, as root. Beside the device it listens with a packet socket, whose stamps are the
// kernel's: what lies between a request's leaving and its reply's arriving is the truth that probes
// are compared with, and does not depend on when this process got to run.
// Usage: node tun-responder.mjs DEVICE TARGETS, which are {address: Rule} of ping-lab.ts as JSON.
// Prints a line "ready", then one JSON line for each reply: {target, heldMs, tail}, where tail is
// the last data byte, by which two probes of one target are told apart.
import { constants, openSync, writeSync } from 'node:fs';
import koffi from 'koffi';

const [device, targets] = process.argv.slice(2);
const rules = new Map(Object.entries(JSON.parse(targets)));

const TUNSETIFF = 0x400454ca;
const IFF_TUN_NO_PI = 0x1001;
const SIOCGIFINDEX = 0x8933;
const AF_PACKET = 17;
const SOCK_DGRAM_NONBLOCK = 2 | 0o4000;
const ETH_P_ALL_IN_NETWORK_ORDER = 0x0300;
const SOL_SOCKET = 1;
const SO_TIMESTAMPNS = 35;
const PACKET_OUTGOING = 4;
const POLLIN = 1;

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
process.stdout.write('ready\n');

const packet = Buffer.alloc(2048);
const due = [];
const left = new Map();
const pollFds = Buffer.alloc(16);
for (const [at, fd] of [tun, tap].entries()) {
  pollFds.writeInt32LE(fd, at * 8);
  pollFds.writeInt16LE(POLLIN, at * 8 + 4);
}
const tapped = messageBuffers();

for (;;) {
  const [next] = due;
  poll(
    pollFds,
    2,
    next === undefined ? 1000 : Math.max(0, Math.ceil(next.atMs - performance.now())),
  );
  const bytes = readInto(tun, packet, packet.length);
  if (bytes > 0) accept(Buffer.from(packet.subarray(0, bytes)), performance.now());
  while (due.length > 0 && due[0].atMs <= performance.now()) writeSync(tun, due.shift().reply);
  while (readTap());
  // Whoever started it is gone.
  if (process.ppid === 1) process.exit();
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
  const on = Buffer.from([1, 0, 0, 0]);
  if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, on, on.length) !== 0) fail('SO_TIMESTAMPNS');
  return fd;
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

// One packet that passed the device, with the kernel's stamp; false where there is none.
function readTap() {
  const { header, name, control, data } = tapped;
  header.writeUInt32LE(name.length, 8);
  header.writeBigUInt64LE(BigInt(control.length), 40);
  const bytes = recvmsg(tap, header, 0);
  if (bytes < 0) return false;
  const seconds = control.readBigInt64LE(16);
  const stampNs = seconds * 1_000_000_000n + control.readBigInt64LE(24);
  note(Buffer.from(data.subarray(0, bytes)), name[10] === PACKET_OUTGOING, stampNs);
  return true;
}

function note(bytes, outgoing, stampNs) {
  const family = bytes[0] >> 4;
  const icmp = bytes.subarray(family === 4 ? 20 : 40);
  const type = outgoing ? { 4: 8, 6: 128 }[family] : { 4: 0, 6: 129 }[family];
  if (icmp[0] !== type || icmp.length < 64) return;
  const target = addressOf(bytes, family, outgoing ? 'destination' : 'source');
  const key = `${target} ${icmp.readUInt32BE(4)}`;
  if (outgoing) {
    left.set(key, stampNs);
  } else if (left.has(key)) {
    const heldMs = Number(stampNs - left.get(key)) / 1e6;
    writeSync(1, `${JSON.stringify({ target, heldMs, tail: bytes.at(-1) })}\n`);
  }
}

function addressOf(bytes, family, which) {
  if (family === 4) return bytes.subarray(...(which === 'source' ? [12, 16] : [16, 20])).join('.');
  return ipv6Text(bytes.subarray(...(which === 'source' ? [8, 24] : [24, 40])));
}

function accept(bytes, receivedAtMs) {
  const family = bytes[0] >> 4;
  const headerBytes = family === 4 ? 20 : 40;
  const isEcho =
    family === 4 ? bytes[9] === 1 && bytes[20] === 8 : bytes[6] === 58 && bytes[40] === 128;
  if (!isEcho) return;
  const { holdMs = 0, does = 'answer' } = rules.get(addressOf(bytes, family, 'destination')) ?? {
    does: 'nothing',
  };
  if (does === 'nothing') return;
  const atMs = receivedAtMs + holdMs;
  for (const reply of repliesTo(bytes, family, headerBytes, does)) due.push({ atMs, reply });
  due.sort((a, b) => a.atMs - b.atMs);
}

function repliesTo(bytes, family, headerBytes, does) {
  const echo = Buffer.from(bytes.subarray(headerBytes));
  echo[0] = family === 4 ? 0 : 129;
  if (does === 'forge') echo[10] ^= 0xff;
  if (does !== 'unreachable') {
    const reply = ipPacket(bytes, family, echo);
    return does === 'twice' ? [reply, reply] : [reply];
  }
  const error = Buffer.alloc(8);
  error.set(family === 4 ? [3, 1] : [1, 3]);
  return [ipPacket(bytes, family, Buffer.concat([error, bytes.subarray(0, headerBytes + 8)]))];
}

// From the request's target to its sender, with a time to live of 61 that the tests look for.
function ipPacket(to, family, icmp) {
  icmp.writeUInt16BE(0, 2);
  if (family === 4) {
    icmp.writeUInt16BE(checksum(icmp), 2);
    const header = Buffer.alloc(20);
    header[0] = 0x45;
    header.writeUInt16BE(20 + icmp.length, 2);
    header[8] = 61;
    header[9] = 1;
    header.set(to.subarray(16, 20), 12);
    header.set(to.subarray(12, 16), 16);
    header.writeUInt16BE(checksum(header), 10);
    return Buffer.concat([header, icmp]);
  }
  const header = Buffer.alloc(40);
  header[0] = 0x60;
  header.writeUInt16BE(icmp.length, 4);
  header[6] = 58;
  header[7] = 61;
  header.set(to.subarray(24, 40), 8);
  header.set(to.subarray(8, 24), 24);
  const pseudo = Buffer.alloc(8);
  pseudo.writeUInt32BE(icmp.length, 0);
  pseudo[7] = 58;
  icmp.writeUInt16BE(checksum(Buffer.concat([header.subarray(8, 40), pseudo, icmp])), 2);
  return Buffer.concat([header, icmp]);
}

function checksum(bytes) {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 1) sum += at % 2 === 0 ? bytes[at] << 8 : bytes[at];
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}

function ipv6Text(bytes) {
  const groups = Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(at * 2).toString(16));
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}
