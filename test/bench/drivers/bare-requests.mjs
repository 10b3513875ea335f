import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { Client } from 'undici';

/**
 * The agent's requests without the agent: each over a new connection, AT_ONCE at a time, for some
 * seconds after a warm-up. `bare-requests.mjs undici|socket WARM_UP_MS SECONDS AT_ONCE URL...` prints
 * { requests, seconds, cpuMs }.
 */

const [how, warmUpMsText, secondsText, atOnceText, ...urls] = process.argv.slice(2);
const PATH = '/health';
const HEADERS = {
  accept: '*/*',
  'accept-encoding': 'gzip, deflate, br, zstd',
  'user-agent': 'vedette/0.0.0',
};
const HEAD = Object.entries(HEADERS)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('');
const OK = 200;

function byUndici(url) {
  return new Promise((resolve, reject) => {
    const client = new Client(url, { pipelining: 0 });
    client.dispatch(
      { path: PATH, method: 'GET', headers: HEADERS },
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
    socket.write(`GET ${PATH} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n${HEAD}\r\n`);
  });
}

const once = { undici: byUndici, socket: bySocket }[how];
let requests = 0;
const over = new AbortController();
async function again(n) {
  for (let turn = n; !over.signal.aborted; turn += 1) {
    await once(urls[turn % urls.length]);
    requests += 1;
  }
}

const running = Array.from({ length: Number(atOnceText) }, (_, n) => again(n));
await setTimeout(Number(warmUpMsText));
requests = 0;
const startMs = performance.now();
const before = process.cpuUsage();
await setTimeout(Number(secondsText) * 1000);
const { user, system } = process.cpuUsage(before);
const seconds = (performance.now() - startMs) / 1000;
process.stdout.write(`${JSON.stringify({ requests, seconds, cpuMs: (user + system) / 1000 })}\n`);
over.abort();
await Promise.all(running);
