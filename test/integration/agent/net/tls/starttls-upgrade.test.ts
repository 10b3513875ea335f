import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { upgradeToTls } from '../../../../../src/agent/net/tls/starttls/upgrade.ts';
import { NOT_SCRUBBED } from '../../../../../src/agent/secrets/cut-scrubbed.ts';
import { systemClock } from '../../../../../src/runtime/clock.ts';
import { listenTcp } from '../../../../support/servers/tcp-servers.ts';

const NEVER = new AbortController().signal;

/** A connection to a server that acts as given, and the outcome of its upgrade. */
async function upgradeOf(
  protocol: 'SMTP' | 'POSTGRESQL',
  onConnection: (socket: Socket) => void,
  { signal = NEVER, limitMs = 20_000 } = {},
) {
  const server = await listenTcp(onConnection);
  onTestFinished(() => server.close());
  const socket = connect({ host: '127.0.0.1', port: server.port });
  await once(socket, 'connect');
  const deadlineMs = systemClock.monotonicMs() + limitMs;
  const options = { protocol, serverName: 'mx.test', target: 'mx.test:25', scrub: NOT_SCRUBBED };
  const failure = await upgradeToTls(socket, options, { clock: systemClock, signal, deadlineMs });
  // A connection that failed is closed; one that agreed is left to the handshake.
  expect(socket.destroyed).toBe(failure !== null);
  socket.destroy();
  return failure;
}

describe('upgradeToTls', () => {
  test('succeeds when the server agrees', async () => {
    expect(
      await upgradeOf('POSTGRESQL', (socket) => socket.once('data', () => socket.write('S'))),
    ).toBeNull();
  });

  test('refuses plain text after the agreement, which an attacker may have injected', async () => {
    const failure = await upgradeOf('POSTGRESQL', (socket) =>
      socket.once('data', () => socket.write('SE')),
    );
    expect(failure).toEqual({
      code: 'STARTTLS_FAILED',
      message: 'mx.test:25 sent 1 byte in plain text after it had agreed to TLS (POSTGRESQL)',
    });
  });

  test('ends a banner that does not end', async () => {
    const failure = await upgradeOf('SMTP', (socket) => {
      const more = (): void =>
        void socket.write(`220-${'x'.repeat(996)}\r\n`, () => setImmediate(more));
      more();
    });
    expect(failure).toEqual({
      code: 'STARTTLS_FAILED',
      message: 'mx.test:25 sent more than 16 KiB without agreeing to TLS (SMTP)',
    });
  });

  test('reports a refusal with what the server said', async () => {
    const failure = await upgradeOf('SMTP', (socket) => socket.write('554 no\r\n'));
    expect(failure?.message).toBe('mx.test:25 did not greet: "554 no" (SMTP)');
  });

  test('ends when the server closes, is silent, or the run is cancelled', async () => {
    expect((await upgradeOf('SMTP', (socket) => socket.end('220-x\r\n')))?.code).toBe('TLS_RESET');
    expect((await upgradeOf('SMTP', () => {}, { limitMs: 20 }))?.code).toBe('TLS_TIMEOUT');
    const stop = new AbortController();
    const failure = upgradeOf('SMTP', () => stop.abort(), { signal: stop.signal });
    expect((await failure)?.code).toBe('CANCELLED');
  });
});
