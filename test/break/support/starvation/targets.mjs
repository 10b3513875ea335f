// The targets of the starvation test, in a process with real-time priority. Prints its ports as one
// line of JSON. Answers each line of input with the gaps of its own event loop so far, in which it
// answered nobody: [from, to] in epoch milliseconds. Ends with its input.
import dgram from 'node:dgram';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { gzipSync } from 'node:zlib';
import packet from 'dns-packet';

const HEALTHY_MS = 5;
/** By the first part of a path: status, and delay in ms. */
const ANSWERS = {
  healthy: [200, HEALTHY_MS],
  broken: [500, HEALTHY_MS],
  slowish: [200, 400],
  slow: [200, 1500],
};

// Compressed, they fit into the buffers of a connection: a starved client does not delay their end.
const ROWS = 5_000;
const rows = Array.from({ length: ROWS }, (_, row) => ({ row, name: `row-${row}` }));
const LARGE_TEXT = gzipSync(`${'All of this is to be unpacked. '.repeat(50_000)}the end`);
const LARGE_JSON = gzipSync(JSON.stringify({ rows }));
/** By the second part of a path. */
const BODIES = { text: LARGE_TEXT, json: LARGE_JSON };

const BEAT_MS = 5;
/** Several of them together leave a healthy answer far below every threshold. */
const GAP_MS = 20;
const gaps = [];
let beatAtMs = performance.now();
const beat = () => {
  const sinceMs = performance.now() - beatAtMs;
  beatAtMs += sinceMs;
  const nowMs = Date.now();
  if (sinceMs > GAP_MS) gaps.push([Math.floor(nowMs - sinceMs), nowMs + 1]);
};
const listen = (server) =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)));

const web = createHttpServer((request, response) => {
  const [, kind, what] = request.url.split('/');
  const body = BODIES[what];
  const coding = body === undefined ? {} : { 'content-encoding': 'gzip' };
  const [status, afterMs] = ANSWERS[kind];
  const headers = { connection: 'close', ...coding };
  setTimeout(() => response.writeHead(status, headers).end(body ?? 'here'), afterMs);
});
const talker = createServer((socket) => {
  socket.on('error', () => {});
  socket.on('data', (data) => setTimeout(() => socket.end(data), HEALTHY_MS));
});
const held = new Set();
const silent = createServer((socket) => {
  held.add(socket);
  socket.on('error', () => {});
  socket.on('close', () => held.delete(socket));
  socket.resume();
});
const gone = createServer();
const names = dgram.createSocket('udp4');
names.on('message', (bytes, from) => {
  const { id, questions } = packet.decode(bytes);
  const [{ name }] = questions;
  const answers = [{ name, type: 'A', ttl: 0, data: '127.0.0.1' }];
  const flags = packet.RECURSION_DESIRED | packet.RECURSION_AVAILABLE;
  const answer = packet.encode({ type: 'response', id, flags, questions, answers });
  setTimeout(() => names.send(answer, from.port, from.address), HEALTHY_MS);
});

const [http, tcp, hang, refuse] = await Promise.all([web, talker, silent, gone].map(listen));
gone.close();
await new Promise((resolve) => names.bind(0, '127.0.0.1', resolve));
console.log(JSON.stringify({ http, tcp, hang, refuse, dns: names.address().port }));

beatAtMs = performance.now();
setInterval(beat, BEAT_MS);
const lines = createInterface({ input: process.stdin });
lines.on('line', () => {
  // The gap that delayed this line as well.
  beat();
  console.log(JSON.stringify(gaps));
});
lines.on('close', () => process.exit());
