// Answers echo requests on its own TUN device, for the system tests: run it inside a network
// namespace, as root. A packet socket supplies kernel timestamps: the time between a request
// leaving and its reply arriving is the reference for probes, independent of this process's
// scheduling. Usage: node tun-responder.mjs DEVICE TARGETS ({address: Rule} of ping-fixture.ts as
// JSON). Prints a line "ready", then one JSON line for each reply: {target, heldMs, tail}. tail is
// the last data byte, which distinguishes two probes of one target.
import { writeSync } from 'node:fs';
import { openTun, readPacket, Tap, waitFor } from './tun-device.mjs';

const [device, targets] = process.argv.slice(2);
const rules = new Map(Object.entries(JSON.parse(targets)));

const tun = openTun(device);
const tap = new Tap(device);
process.stdout.write('ready\n');

const packet = Buffer.alloc(2048);
const due = [];
const left = new Map();

for (;;) {
  const [next] = due;
  const untilDueMs = next === undefined ? 1000 : Math.ceil(next.atMs - performance.now());
  waitFor([tun, tap.fd], Math.max(0, untilDueMs));
  const bytes = readPacket(tun, packet);
  if (bytes > 0) accept(Buffer.from(packet.subarray(0, bytes)), performance.now());
  while (due.length > 0 && due[0].atMs <= performance.now()) writeSync(tun, due.shift().reply);
  tap.readAll(note);
  // The parent has ended.
  if (process.ppid === 1) process.exit();
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

// From the request's target to its sender, with a time to live of 61, which the tests check.
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
