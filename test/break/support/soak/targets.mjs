// The targets of the soak in their own process, on loopback: HTTP, HTTPS with HTTP/2, TCP and DNS
// servers that answer well, late, with large bodies, incorrectly or never, and a webhook for
// alerts. Takes the certificate as its argument, prints its ports, and ends with its input.
// `/counts` returns the numbers of requests and notices.
import dgram from 'node:dgram';
import { createServer as createHttpServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import packet from 'dns-packet';

const { cert, key } = JSON.parse(process.argv[2] ?? '{}');
const LINE = 'The quick brown fox jumps over the lazy dog, again and again.\n';
const BIG = Buffer.from(LINE.repeat(20_000));
const TEXT = { 'content-type': 'text/plain' };
const JSON_TYPE = { 'content-type': 'application/json' };
const ITEMS = JSON.stringify({ ok: true, items: Array.from({ length: 20 }, (_, id) => ({ id })) });
const PACKED = { gzip: gzipSync(BIG), br: brotliCompressSync(BIG) };
/** How long the intermittent target is up, and then down. */
const FLAP_MS = 12_000;

const counts = { requests: 0, hooks: {} };

const packed = (encoding) => (_request, response) =>
  response.writeHead(200, { ...TEXT, 'content-encoding': encoding }).end(PACKED[encoding]);

const paths = {
  '/ok': (_request, response) => response.writeHead(200, JSON_TYPE).end(ITEMS),
  // Returns the request, so that its secrets must be masked.
  '/echo': (request, response) =>
    response.writeHead(200, JSON_TYPE).end(JSON.stringify({ headers: request.headers })),
  '/slow': (_request, response, query) => {
    const timer = setTimeout(() => response.end('late'), Number(query.get('ms')));
    response.once('close', () => clearTimeout(timer));
  },
  '/status': (_request, response, query) =>
    response.writeHead(Number(query.get('code')), TEXT).end('as you wish'),
  '/redirect': (_request, response, query) => {
    const left = Number(query.get('n')) - 1;
    response.writeHead(302, { location: left > 0 ? `/redirect?n=${left}` : '/ok' }).end();
  },
  '/big': (_request, response) => response.writeHead(200, TEXT).end(BIG),
  '/gzip': packed('gzip'),
  '/br': packed('br'),
  '/hang': () => {},
  '/cut': (_request, response) => {
    response.writeHead(200, { ...TEXT, 'content-length': '1000' });
    response.write('the beginning', () => response.socket?.destroy());
  },
  '/reset': (request) => request.socket.resetAndDestroy(),
  '/flap': (_request, response) => {
    const isAway = Math.floor(Date.now() / FLAP_MS) % 2 === 1;
    response.writeHead(isAway ? 503 : 200, TEXT).end(isAway ? 'away' : 'here');
  },
  '/long-failure': (_request, response) =>
    response.writeHead(500, TEXT).end(BIG.subarray(0, 100_000)),
  '/hook': (request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      const type = JSON.parse(text).ALERT_TYPE ?? 'unknown';
      counts.hooks[type] = (counts.hooks[type] ?? 0) + 1;
      response.end('noted');
    });
  },
  '/counts': (_request, response) => response.writeHead(200, JSON_TYPE).end(JSON.stringify(counts)),
};

function answer(request, response) {
  counts.requests += 1;
  const { pathname, searchParams } = new URL(request.url, 'http://any');
  const path = paths[pathname];
  if (path === undefined) response.writeHead(404).end();
  else path(request, response, searchParams);
}

const records = (type) =>
  ({
    A: ['127.0.0.1'],
    AAAA: ['::1'],
    TXT: ['v=soak'],
    MX: [{ preference: 10, exchange: 'mx.here.test' }],
    NS: ['ns.here.test'],
    CNAME: ['other.here.test'],
  })[type] ?? [];

/** null if it does not answer. */
function dnsAnswer(bytes, isUdp) {
  const { id, questions } = packet.decode(bytes);
  const { name, type } = questions[0];
  const [label] = name.split('.');
  if (label === 'silent') return null;
  if (label === 'broken') return Buffer.from('this is no DNS message');
  const isCut = label === 'large' && isUdp;
  const flags =
    packet.RECURSION_DESIRED |
    packet.RECURSION_AVAILABLE |
    (label === 'missing' ? 3 : 0) |
    (isCut ? packet.TRUNCATED_RESPONSE : 0);
  const many = label === 'large' ? Array.from({ length: 60 }, (_, n) => `text ${n} ${LINE}`) : null;
  const data = label === 'missing' || isCut ? [] : (many ?? records(type));
  const answers = data.map((each) => ({ name, type, ttl: 60, data: each }));
  return packet.encode({ type: 'response', id, flags, questions, answers });
}

const quiet = (server) => server.on('connection', (socket) => socket.on('error', () => {}));
const http = quiet(createHttpServer({ keepAliveTimeout: 1000 }, answer));
const https = quiet(createSecureServer({ cert, key, allowHTTP1: true }, answer));
https.on('secureConnection', (socket) => socket.on('error', () => {}));
https.on('sessionError', () => {});
const echo = quiet(createServer((socket) => socket.pipe(socket)));
const silent = quiet(createServer((socket) => socket.resume()));
const cutting = quiet(
  createServer((socket) => socket.once('data', () => socket.resetAndDestroy())),
);
const dnsTcp = quiet(
  createServer((socket) => {
    let held = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      held = Buffer.concat([held, chunk]);
      if (held.length < 2 || held.length < held.readUInt16BE(0) + 2) return;
      const message = dnsAnswer(held.subarray(2), false);
      if (message === null) return;
      const length = Buffer.alloc(2);
      length.writeUInt16BE(message.length);
      socket.end(Buffer.concat([length, message]));
    });
  }),
);
const dnsUdp = dgram.createSocket('udp4');
dnsUdp.on('message', (bytes, from) => {
  const message = dnsAnswer(bytes, true);
  if (message !== null) dnsUdp.send(message, from.port, from.address);
});

const listen = (server) =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)));
const ports = {
  http: await listen(http),
  https: await listen(https),
  echo: await listen(echo),
  silent: await listen(silent),
  cutting: await listen(cutting),
  dns: await listen(dnsTcp),
};
await new Promise((resolve) => dnsUdp.bind(ports.dns, '127.0.0.1', resolve));
process.stdout.write(`${JSON.stringify(ports)}\n`);
process.stdin.on('end', () => process.exit()).resume();
