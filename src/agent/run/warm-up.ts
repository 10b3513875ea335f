import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Check, checkBodySchema } from '../../model/check.ts';
import { allowAll } from '../../runtime/address-guard.ts';
import { secureContextFor } from '../net/tls/secure-contexts.ts';
import { type AttemptParts, makeAttempt } from './attempt.ts';

/** Enough for the code to be loaded and compiled; more changes little. */
const ROUNDS = 3;
/** Whatever goes wrong in it, the start does not wait longer. */
const LIMIT_MS = 1000;

/**
 * Makes a few attempts against this process itself, of which nobody hears. The first ones of a
 * process take some 20 ms more, for loading and compiling code and reading the root certificates,
 * and would bill them to the first targets.
 */
export async function warmUp(parts: AttemptParts, signal: AbortSignal): Promise<void> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end('{"warm":true}');
  });
  const limit = new AbortController();
  const cancel = parts.clock.after(LIMIT_MS, () => limit.abort());
  const ended = AbortSignal.any([signal, limit.signal]);
  try {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening', { signal: ended });
    const { port } = server.address() as AddressInfo;
    secureContextFor(null);
    // Whatever TARGET_DENY says: this is no target.
    const unguarded = { ...parts, guard: allowAll };
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const check of checksOf(port)) {
        const options = { opening: 'warming up', signal: ended, keepLongBody: false };
        await makeAttempt(check, unguarded, options);
      }
    }
  } catch (error) {
    // A machine without a loopback can still run checks, the first ones a little slower.
    parts.log.debug({ err: error }, 'no warming up');
  } finally {
    cancel();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

function checksOf(port: number): Check[] {
  const common = { name: 'warm-up', retryStrategy: null };
  const warm = { source: 'JSON_BODY', property: '$.warm', comparison: 'EQUALS', target: 'true' };
  return [
    {
      ...common,
      checkType: 'API',
      request: { url: `http://127.0.0.1:${port}/`, assertions: [warm] },
    },
    { ...common, checkType: 'TCP', request: { hostname: '127.0.0.1', port } },
  ].map((body) => ({ id: 'warm-up', ...checkBodySchema.parse(body) }));
}
