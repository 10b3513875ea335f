// HEALTHCHECK of the images, which have no curl: exit 0 if readiness is 200, else 1 with the reason,
// which `docker inspect` shows.
//
//   node healthcheck.mjs NAME PORT   the variable with the port, and its default
import { get } from 'node:http';

const [name = '', standard = ''] = process.argv.slice(2);
const TIMEOUT_MS = 4000;
// Listening on all addresses, it listens on the loopback.
const given = process.env[name === 'AGENT_HEALTH_PORT' ? 'AGENT_HEALTH_HOST' : 'HOST'] ?? '';
const host = { '': '127.0.0.1', '0.0.0.0': '127.0.0.1', '::': '::1' }[given] ?? given;
const request = get({
  host,
  port: process.env[name] || standard,
  path: '/-/readiness',
  agent: false,
  signal: AbortSignal.timeout(TIMEOUT_MS),
});
request.on('error', (error) => {
  process.stdout.write(`no answer: ${error.message}\n`);
  process.exitCode = 1;
});
request.on('response', (response) => {
  process.exitCode = response.statusCode === 200 ? 0 : 1;
  response.pipe(process.stdout);
});
