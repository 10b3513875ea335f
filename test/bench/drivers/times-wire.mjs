// The path from a client to servers of this machine: a TUN device that returns every packet. Run
// it inside a network namespace, as root. A packet to any address of the device's network comes back with
// its two addresses swapped, so that a server on the device's own address takes it for one of a far
// client; the servers' answers return in the same way. Packets to a server are held for some
// milliseconds, by its address and port. A packet socket beside the device shows when the client's side
// had which packet. This reference depends neither on when this process got CPU nor on the servers.
// Its argument is {device} as JSON. Prints a line "ready"; then {"ports": […]} on stdin, which is answered
// with {}, says where servers listen, and {"flows": true} is answered with {flows, lost}: the flows since
// it was asked before as [server, startMs, answerMs, outMs, inMs], and how many packets the packet socket
// missed. A flow is a TCP connection (answerMs: its SYN-ACK; outMs and inMs: data of the client's and
// of the server's), or a UDP question. Epoch milliseconds. Ends with its input.
import { readSync, writeSync } from 'node:fs';
import { openTun, serveTun, Tap } from '../../support/network/tun-device.mjs';

const STANDARD_INPUT = 0;
const TCP = 6;
const UDP = 17;
const IPV4_HEADER_BYTES = 20;
const FLAG_SYN = 2;
const SHORTEST_HOLD_MS = 5;
const HOLDS = 16;
/** Enough for a body of some KB; further packets of a flow are ignored. */
const MAX_SEGMENTS = 64;

const { device } = JSON.parse(process.argv[2]);
const tun = openTun(device);
const tap = new Tap(device);
const startNs = BigInt(Date.now()) * 1_000_000n;
const startMs = Number(startNs / 1_000_000n);
const command = Buffer.alloc(64 * 1024);
const ports = new Set();
/** Held packets by the millisecond in which they are due. */
const due = new Map();
let flows = [];
/** Open flows by server and client port. */
const open = new Map();

class Flow {
  #server;
  #startMs;
  #answerMs = null;
  #ms = { out: [], in: [] };
  #ends = { out: null, in: null };

  constructor(server, ms, first) {
    this.#server = server;
    this.#startMs = ms;
    this.first = first;
  }

  get isAnswered() {
    return this.#answerMs !== null;
  }

  answered(ms) {
    this.#answerMs ??= ms;
  }

  /** Packets from before the start do not count. */
  data(way, ms, end) {
    const before = this.#ends[way];
    if (before !== null && ((end - before) | 0) <= 0) return;
    this.#ends[way] = end;
    if (this.#ms[way].length < MAX_SEGMENTS) this.#ms[way].push(ms);
  }

  toJSON() {
    return [this.#server, this.#startMs, this.#answerMs, this.#ms.out, this.#ms.in];
  }
}

writeSync(1, 'ready\n');
serveTun({ tun, tap, due, onPacket: turnRound, onStamp: note, onAsked: answer });

/** Checksums do not change: they are sums, whatever the order of the addresses. */
function turnRound(bytes) {
  if (!isKnown(bytes)) return;
  const server = bytes.subarray(16, 20);
  const port = bytes.readUInt16BE(IPV4_HEADER_BYTES + 2);
  const turned = Buffer.from(bytes);
  bytes.copy(turned, 12, 16, 20);
  bytes.copy(turned, 16, 12, 16);
  if (!ports.has(port)) {
    writeSync(tun, turned);
    return;
  }
  const holdMs = SHORTEST_HOLD_MS + ((server[3] + port) % HOLDS);
  const atMs = Math.floor(performance.now() + holdMs) + 1;
  const sameMs = due.get(atMs);
  if (sameMs === undefined) due.set(atMs, [turned]);
  else sameMs.push(turned);
}

function isKnown(bytes) {
  return bytes[0] === 0x45 && (bytes[9] === TCP || bytes[9] === UDP);
}

/** Each packet passes twice; it counts when the client's side sends or receives it. */
function note(bytes, outgoing, stampNs) {
  if (!isKnown(bytes)) return;
  const [from, to] = [IPV4_HEADER_BYTES, IPV4_HEADER_BYTES + 2].map((at) => bytes.readUInt16BE(at));
  const port = outgoing ? to : from;
  if (!ports.has(port)) return;
  const client = outgoing ? from : to;
  const at = outgoing ? 16 : 12;
  const server = `${bytes.subarray(at, at + 4).join('.')}:${port}`;
  const key = `${server} ${client}`;
  const ms = startMs + Number(stampNs - startNs) / 1e6;
  if (bytes[9] === UDP) noteQuestion(key, server, outgoing, ms);
  else noteSegment(key, server, outgoing, ms, bytes);
}

function noteQuestion(key, server, outgoing, ms) {
  const flow = open.get(key);
  if (!outgoing) flow?.answered(ms);
  // A repeated query begins no new flow.
  else if (flow === undefined || flow.isAnswered) begin(key, server, ms);
}

function noteSegment(key, server, outgoing, ms, bytes) {
  const isSyn = (bytes[IPV4_HEADER_BYTES + 13] & FLAG_SYN) !== 0;
  const sequence = bytes.readUInt32BE(IPV4_HEADER_BYTES + 4);
  if (isSyn && outgoing) {
    // A repeated SYN begins no new flow.
    if (open.get(key)?.first !== sequence) begin(key, server, ms, sequence);
    return;
  }
  const flow = open.get(key);
  if (flow === undefined) return;
  if (isSyn) {
    flow.answered(ms);
    return;
  }
  const headers = IPV4_HEADER_BYTES + (bytes[IPV4_HEADER_BYTES + 12] >> 4) * 4;
  const length = bytes.readUInt16BE(2) - headers;
  if (length > 0) flow.data(outgoing ? 'out' : 'in', ms, (sequence + length) >>> 0);
}

function begin(key, server, ms, first = null) {
  const flow = new Flow(server, ms, first);
  open.set(key, flow);
  flows.push(flow);
}

/** False at the end of the input. */
function answer() {
  const bytes = readSync(STANDARD_INPUT, command);
  if (bytes === 0) return false;
  const { ports: told = null } = JSON.parse(command.toString('utf8', 0, bytes));
  if (told !== null) {
    for (const port of told) ports.add(port);
    say({});
    return true;
  }
  say({ flows, lost: tap.lost() });
  flows = [];
  open.clear();
  return true;
}

function say(value) {
  const text = Buffer.from(`${JSON.stringify(value)}\n`);
  for (let at = 0; at < text.length; at += writeSync(1, text, at));
}
