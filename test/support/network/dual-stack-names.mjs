// Inside a network namespace: a name server on 127.0.0.1:53 (UDP and TCP) that gives every name an
// unreachable IPv6 address and 127.0.0.1; and a web server on 127.0.0.1:9000. Ends with its input.
import dgram from 'node:dgram';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import packet from 'dns-packet';

const ADDRESSES = { A: '127.0.0.1', AAAA: '2001:db8::1' };

function answer(bytes) {
  const { id, questions } = packet.decode(bytes);
  const answers = questions.flatMap(({ name, type }) =>
    ADDRESSES[type] === undefined ? [] : [{ name, type, ttl: 0, data: ADDRESSES[type] }],
  );
  const flags = packet.RECURSION_DESIRED | packet.RECURSION_AVAILABLE;
  return packet.encode({ type: 'response', id, flags, questions, answers });
}

const udp = dgram.createSocket('udp4');
udp.on('message', (bytes, from) => udp.send(answer(bytes), from.port, from.address));
const tcp = createServer((socket) => {
  let held = Buffer.alloc(0);
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    held = Buffer.concat([held, chunk]);
    if (held.length < 2 || held.length < held.readUInt16BE(0) + 2) return;
    const message = answer(held.subarray(2));
    const length = Buffer.alloc(2);
    length.writeUInt16BE(message.length);
    socket.end(Buffer.concat([length, message]));
  });
});
const web = createHttpServer((_request, response) => response.end('here'));
await Promise.all([
  new Promise((resolve) => udp.bind(53, '127.0.0.1', resolve)),
  new Promise((resolve) => tcp.listen(53, '127.0.0.1', resolve)),
  new Promise((resolve) => web.listen(9000, '127.0.0.1', resolve)),
]);
process.stdout.write('open\n');
process.stdin.on('end', () => process.exit()).resume();
