// The servers that times are measured against, in a process of its own. Its argument is {address,
// securePorts: how many, cert, key} as JSON; it prints {plain, secure: […], dns}, the ports, as one line,
// and ends with its input. An answer over plain HTTP comes in two parts, the second one some milliseconds
// after the first, so that its download takes as long. Idle connections are accepted, too.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

const DOWNLOAD_MS = 10;
const PART = 'x'.repeat(2048);
const SHORT_ANSWER = 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok';
const LONG_HEAD = `HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ${2 * PART.length}\r\n\r\n`;
const DNS_HEADER_BYTES = 12;
const ADDRESS_RECORD = Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1]);

const { address, securePorts, cert, key } = JSON.parse(process.argv[2]);

async function listen(server) {
  server.listen({ port: 0, host: address, backlog: 4096 });
  await once(server, 'listening');
  return server.address().port;
}

const plain = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => {});
  socket.once('data', () => {
    socket.write(LONG_HEAD + PART);
    setTimeout(() => socket.end(PART), DOWNLOAD_MS);
  });
});
const options = { cert, key, noDelay: true, ALPNProtocols: ['http/1.1'] };
const secure = Array.from({ length: securePorts }, () =>
  createTlsServer(options, (socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(SHORT_ANSWER));
  }),
);
for (const server of secure) server.on('tlsClientError', () => {});

const names = createSocket('udp4');
names.on('message', (question, { address: from, port }) => {
  let end = DNS_HEADER_BYTES;
  while (question[end] !== 0) end += question[end] + 1;
  // The root's label, type and class; what follows them is not part of the question.
  end += 5;
  const reply = Buffer.concat([question.subarray(0, end), ADDRESS_RECORD]);
  // RFC 1035 4.1.1: a response, recursion available, one answer, nothing else.
  reply.writeUInt16BE(0x8180, 2);
  reply.writeUInt16BE(1, 6);
  reply.writeUInt32BE(0, 8);
  names.send(reply, port, from);
});
names.bind(0, address);
await once(names, 'listening');

const ports = { plain: await listen(plain), secure: [], dns: names.address().port };
for (const server of secure) ports.secure.push(await listen(server));
process.stdout.write(`${JSON.stringify(ports)}\n`);
process.stdin.resume().once('end', () => process.exit());
