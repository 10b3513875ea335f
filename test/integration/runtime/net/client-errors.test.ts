import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { ClientErrors } from '../../../../src/runtime/net/client-errors.ts';
import { clientThread, holdLoop } from '../../../support/process/held-loop.ts';
import { listening } from '../../../support/servers/tcp-servers.ts';

const HEADERS_TIMEOUT_MS = 100;

/** The first line of the response of a server that blocks once it has accepted the connection. */
async function answeredAfterStandstill(sent: string): Promise<string> {
  const server = createServer(
    { headersTimeout: HEADERS_TIMEOUT_MS, connectionsCheckingInterval: HEADERS_TIMEOUT_MS / 4 },
    (_request, response) => response.end('hello'),
  );
  const clientErrors = new ClientErrors({
    clock: systemClock,
    answer: (_status, message) => ({ contentType: 'text/plain', body: message }),
  });
  clientErrors.watch(server);
  server.on('clientError', clientErrors.handle);
  await listening(server);
  onTestFinished(() => void server.close());
  const client = clientThread((server.address() as AddressInfo).port, sent);
  server.once('connection', () => {
    client.untilSent();
    holdLoop(3 * HEADERS_TIMEOUT_MS);
  });
  const [first = ''] = (await client.got).split('\r\n');
  return first;
}

it('a request that arrived while the server stood still is answered, however long that was', async () => {
  const request = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';
  expect(await answeredAfterStandstill(request)).toBe('HTTP/1.1 200 OK');
});

it('an incomplete request after a standstill is answered with 408', async () => {
  expect(await answeredAfterStandstill('GET / HTTP/1.1\r\nhost: a')).toBe(
    'HTTP/1.1 408 Request Timeout',
  );
});
