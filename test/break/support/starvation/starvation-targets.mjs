// The targets of the starvation test, in a process with real-time priority. Prints its ports as one
// line of JSON. Answers each line of input with the longest response time of each path, name or
// text, in ms by its own clock. Ends with its input.
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

const longest = {};
const take = (name, sinceMs) => {
  const ms = performance.now() - sinceMs;
  longest[name] = Math.max(longest[name] ?? 0, ms);
};
const listen = (server) =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)));

const web = createHttpServer((request, response) => {
  const sinceMs = performance.now();
  const [, kind, what] = request.url.split('/');
  const body = BODIES[what];
  const coding = body === undefined ? {} : { 'content-encoding': 'gzip' };
  const [status, afterMs] = ANSWERS[kind];
  response.on('close', () => take(request.url, sinceMs));
  const headers = { connection: 'close', ...coding };
  setTimeout(() => response.writeHead(status, headers).end(body ?? 'here'), afterMs);
});
const talker = createServer((socket) => {
  socket.on('error', () => {});
  socket.on('data', (data) => {
    const sinceMs = performance.now();
    setTimeout(() => {
      socket.end(data);
      take(data.toString(), sinceMs);
    }, HEALTHY_MS);
  });
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
  const sinceMs = performance.now();
  const { id, questions } = packet.decode(bytes);
  const [{ name }] = questions;
  const answers = [{ name, type: 'A', ttl: 0, data: '127.0.0.1' }];
  const flags = packet.RECURSION_DESIRED | packet.RECURSION_AVAILABLE;
  const answer = packet.encode({ type: 'response', id, flags, questions, answers });
  setTimeout(() => {
    names.send(answer, from.port, from.address);
    take(name, sinceMs);
  }, HEALTHY_MS);
});

const [http, tcp, hang, refuse] = await Promise.all([web, talker, silent, gone].map(listen));
gone.close();
await new Promise((resolve) => names.bind(0, '127.0.0.1', resolve));
console.log(JSON.stringify({ http, tcp, hang, refuse, dns: names.address().port }));

const lines = createInterface({ input: process.stdin });
lines.on('line', () => console.log(JSON.stringify(longest)));
lines.on('close', () => process.exit());
