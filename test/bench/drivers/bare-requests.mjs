import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import { Client } from 'undici';

/**
 * The same requests without an agent around them: a fresh connection each, so many at once, for so
 * long. `bare-requests.mjs undici|socket SECONDS AT_ONCE URL...` prints { requests, seconds, cpuMs }.
 */

const [how, secondsText, atOnceText, ...urls] = process.argv.slice(2);
const OK = 200;

function byUndici(url) {
  return new Promise((resolve, reject) => {
    const client = new Client(url, { pipelining: 0 });
    client.dispatch(
      { path: '/', method: 'GET' },
      {
        onRequestStart() {},
        onResponseStart(_controller, status) {
          if (status !== OK) reject(new Error(`status ${status}`));
        },
        onResponseData() {},
        onResponseEnd() {
          client.destroy(null, () => {});
          resolve();
        },
        onResponseError: (_controller, error) => reject(error),
      },
    );
  });
}

function bySocket(url) {
  return new Promise((resolve, reject) => {
    const { hostname, port, host } = new URL(url);
    const socket = connect(Number(port), hostname);
    let bytes = 0;
    socket.on('data', (chunk) => {
      bytes += chunk.length;
    });
    socket.once('end', () => (bytes > 0 ? resolve() : reject(new Error('no answer'))));
    socket.once('error', reject);
    socket.write(`GET / HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
  });
}

const once = { undici: byUndici, socket: bySocket }[how];
let requests = 0;
let isOver = false;
async function again(n) {
  for (let turn = n; !isOver; turn += 1) {
    await once(urls[turn % urls.length]);
    requests += 1;
  }
}

setTimeout(() => {
  isOver = true;
}, Number(secondsText) * 1000);
const startMs = performance.now();
const before = process.cpuUsage();
await Promise.all(Array.from({ length: Number(atOnceText) }, (_, n) => again(n)));
const { user, system } = process.cpuUsage(before);
const seconds = (performance.now() - startMs) / 1000;
process.stdout.write(`${JSON.stringify({ requests, seconds, cpuMs: (user + system) / 1000 })}\n`);
