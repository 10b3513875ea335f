import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Check, checkBodySchema } from '../../model/check/check.ts';
import { allowAll } from '../../runtime/net/address-guard.ts';
import { secureContextFor } from '../net/tls/secure-contexts.ts';
import { makeAttempt } from './attempt.ts';
import type { AttemptParts } from './observe.ts';

/** Enough to load and compile the code; more changes little. */
const ROUNDS = 3;
/** The start of the agent waits at most this long. */
const LIMIT_MS = 1000;

/**
 * Makes a few attempts against this process itself and drops their results. The first attempts of a
 * process take about 20 ms longer, to load and compile code and to read the root certificates,
 * which would distort the first response times.
 */
export async function warmUp(parts: AttemptParts, signal: AbortSignal): Promise<void> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end('{"warm":true}');
  });
  const nameServer = openNameServer();
  const limit = new AbortController();
  const cancel = parts.clock.after(LIMIT_MS, () => limit.abort());
  const ended = AbortSignal.any([signal, limit.signal]);
  try {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening', { signal: ended });
    nameServer.bind(0, '127.0.0.1');
    await once(nameServer, 'listening', { signal: ended });
    const { port } = server.address() as AddressInfo;
    secureContextFor(null);
    // TARGET_DENY does not apply: the process is not a target.
    const unguarded = { ...parts, guard: allowAll };
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const check of checksOf(port, nameServer.address().port)) {
        const options = { opening: 'warming up', signal: ended, keepLongBody: false };
        (await makeAttempt(check, unguarded, options)).forget();
      }
    }
  } catch (error) {
    // A machine without a loopback can still run checks, the first ones a little slower.
    parts.log.debug({ err: error }, 'the warm-up failed');
  } finally {
    cancel();
    nameServer.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const HEADER_BYTES = 12;
/** RFC 1035 4.1.1: a response without any record. */
const ANSWERED_FLAGS = 0x8180;

function openNameServer(): Socket {
  const socket = createSocket('udp4');
  socket.on('error', () => {});
  socket.on('message', (question, { port, address }) => {
    if (question.length < HEADER_BYTES) return;
    question.writeUInt16BE(ANSWERED_FLAGS, 2);
    socket.send(question, port, address, () => {});
  });
  return socket;
}

function checksOf(port: number, dnsPort: number): Check[] {
  const common = { name: 'warm-up', retryStrategy: null };
  const warm = { source: 'JSON_BODY', property: '$.warm', comparison: 'EQUALS', target: 'true' };
  return [
    {
      ...common,
      checkType: 'API',
      request: { url: `http://127.0.0.1:${port}/`, assertions: [warm] },
    },
    { ...common, checkType: 'TCP', request: { hostname: '127.0.0.1', port } },
    {
      ...common,
      checkType: 'DNS',
      request: { query: 'warm.invalid', recordType: 'A', nameServer: '127.0.0.1', port: dnsPort },
    },
  ].map((body) => ({ id: 'warm-up', ...checkBodySchema.parse(body) }));
}
