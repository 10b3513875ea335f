// Behind the routers of the storm, in a separate network: web servers and TCP servers on one port
// for each group of checks, and a name server that resolves every name to this machine. A line
// `reset` on its input makes the ports of that group reset all connections, `serve` ends it. Ends
// with its input.
import dgram from 'node:dgram';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import packet from 'dns-packet';

const { address, ports, resetting } = JSON.parse(process.argv[2] ?? '{}');
let isResetting = false;

function dnsAnswer(bytes) {
  const { id, questions } = packet.decode(bytes);
  const [{ name, type }] = questions;
  const answers = type === 'A' ? [{ name, type, ttl: 0, data: address }] : [];
  const flags = packet.RECURSION_DESIRED | packet.RECURSION_AVAILABLE;
  return packet.encode({ type: 'response', id, flags, questions, answers });
}

const listen = (server, port) => new Promise((resolve) => server.listen(port, address, resolve));
for (const [group, { http, tcp }] of Object.entries(ports)) {
  const isStruck = () => isResetting && group === resetting;
  const web = createHttpServer((request, response) => {
    if (isStruck()) request.socket.resetAndDestroy();
    else response.end('here');
  });
  const talker = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (data) => {
      if (isStruck()) socket.resetAndDestroy();
      else socket.end(data);
    });
  });
  await Promise.all([listen(web, http), listen(talker, tcp)]);
}
const udp = dgram.createSocket('udp4');
udp.on('message', (bytes, from) => udp.send(dnsAnswer(bytes), from.port, from.address));
await new Promise((resolve) => udp.bind(53, address, resolve));
process.stdout.write('open\n');

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  isResetting = line === 'reset';
  process.stdout.write(`${line}\n`);
});
lines.on('close', () => process.exit());
