// Answers IPv4 echo requests that go into a TUN device of its own: run it inside a network
// namespace, as root. Each target's requests are held for the time that is set for it, and a packet
// socket beside the device reports when the kernel sent each request and received each reply. The
// time between is the reference for measured round trips; it does not depend on when this process
// got to run.
// Usage: node icmp-responder.mjs DEVICE HOLDS, where HOLDS is {address: milliseconds} as JSON.
// Prints a line "ready", and for each line on its input one line of JSON, {address: [milliseconds]}:
// how long each echo since the line before took, in the order of the replies. Ends with its input.
import { readSync, writeSync } from 'node:fs';
import { openTun, serveTun, Tap } from '../../support/network/tun-device.mjs';

const [device, holdsText] = process.argv.slice(2);
const holds = new Map(Object.entries(JSON.parse(holdsText)));

const STANDARD_INPUT = 0;
const REQUEST = 8;
const REPLY = 0;
const IPV4_HEADER_BYTES = 20;

const tun = openTun(device);
const tap = new Tap(device);
/** Pending replies by the millisecond in which they are due. */
const due = new Map();
const left = new Map();
const took = new Map();
writeSync(1, 'ready\n');
serveTun({ tun, tap, due, onPacket: accept, onStamp: note, onAsked: report });

/** The request, sent back. Its length and time to live do not change, nor does the header checksum. */
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

/** False at the end of the input. */
function report() {
  if (readSync(STANDARD_INPUT, Buffer.alloc(64)) === 0) return false;
  const text = Buffer.from(`${JSON.stringify(Object.fromEntries(took))}\n`);
  for (let at = 0; at < text.length; at += writeSync(1, text, at));
  took.clear();
  left.clear();
  return true;
}
