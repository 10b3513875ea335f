// The targets of the starvation test, in a process with real-time priority. Prints its ports as one
// line of JSON. Answers each line of input with the longest response time of each path, name or
// text, in ms by its own clock. Ends with its input.
import dgram from 'node:dgram';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import packet from 'dns-packet';

const HEALTHY_MS = 5;
/** By the first part of a path: status, and delay in ms. */
const ANSWERS = {
  healthy: [200, HEALTHY_MS],
  broken: [500, HEALTHY_MS],
  slowish: [200, 400],
  slow: [200, 1500],
};

const longest = {};
const take = (name, sinceMs) => {
  const ms = performance.now() - sinceMs;
  longest[name] = Math.max(longest[name] ?? 0, ms);
};
const listen = (server) =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)));

const web = createHttpServer((request, response) => {
  const sinceMs = performance.now();
  const [, kind] = request.url.split('/');
  const [status, afterMs] = ANSWERS[kind];
  response.on('close', () => take(request.url, sinceMs));
  setTimeout(() => response.writeHead(status, { connection: 'close' }).end('here'), afterMs);
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
