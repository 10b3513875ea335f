// The target of checks, on every address of 127.0.0.0/8, in a process of its own: it accepts any
// TCP connection and answers HTTP requests and DNS questions (UDP). `/held` is answered after 50 ms or
// `holdMs`, and x-held-ms says how long the request was truly held; `/never` is not answered. Prints a
// line when it is ready. {"port": true} on stdin is answered with {port}, {"first": true} with {firstMs}
// at the next connection, and any other line with what came since the one before, as
// {tcp: [address, ms, …], udp: count}: addresses as numbers, instants as epoch milliseconds with
// fractions.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';

const { holdMs = 50, spinMs = 2 } = JSON.parse(process.argv[2] ?? '{}');
const UDP_REPLY = Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1]);

let accepted = [];
let questions = 0;
let onFirst = null;

/** Epoch milliseconds; Date.now() has no fractions. */
function now() {
  return performance.timeOrigin + performance.now();
}

function numberOf(address) {
  return address.split('.').reduce((number, part) => number * 256 + Number(part), 0);
}

function answer(socket, request) {
  if (request.startsWith('GET /never')) return;
  if (!request.startsWith('GET /held')) {
    socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok');
    return;
  }
  const receivedMs = performance.now();
  // A timer is exact to a millisecond; a loop waits for the rest.
  setTimeout(() => {
    while (performance.now() - receivedMs < holdMs);
    const heldMs = performance.now() - receivedMs;
    const head = `HTTP/1.1 200 OK\r\nconnection: close\r\nx-held-ms: ${heldMs}`;
    socket.end(`${head}\r\ncontent-length: 4\r\n\r\nheld`);
  }, holdMs - spinMs);
}

const server = createServer({ noDelay: true }, (socket) => {
  const ms = now();
  accepted.push(numberOf(socket.localAddress), ms);
  onFirst?.(ms);
  socket.on('error', () => {});
  socket.once('data', (bytes) => answer(socket, bytes.latin1Slice(0, 16)));
});
server.listen({ port: 0, host: '0.0.0.0', backlog: 4096 });
await once(server, 'listening');
const { port } = server.address();

const udp = createSocket('udp4');
udp.on('message', (question, { address, port: from }) => {
  questions += 1;
  const reply = Buffer.concat([question, UDP_REPLY]);
  // RFC 1035 4.1.1: a response, recursion available, one answer, nothing else.
  reply.writeUInt16BE(0x8180, 2);
  reply.writeUInt16BE(1, 6);
  reply.writeUInt16BE(0, 10);
  udp.send(reply, from, address);
});
udp.bind(port, '127.0.0.1');
await once(udp, 'listening');

process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  if (command.port === true) {
    process.stdout.write(`${JSON.stringify({ port })}\n`);
    continue;
  }
  if (command.first === true) {
    const ms = await new Promise((resolve) => {
      onFirst = resolve;
    });
    onFirst = null;
    process.stdout.write(`${JSON.stringify({ firstMs: ms })}\n`);
    continue;
  }
  process.stdout.write(`${JSON.stringify({ tcp: accepted, udp: questions })}\n`);
  accepted = [];
  questions = 0;
}
process.exit();
