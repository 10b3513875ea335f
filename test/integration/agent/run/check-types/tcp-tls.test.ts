import { connect, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../../../src/runtime/clock.ts';
import { runFixture } from '../../../../support/agent/run-fixture.ts';
import { checkOf } from '../../../../support/samples/checks.ts';
import { createSelfSigned, type Identity } from '../../../../support/servers/certificates.ts';
import { listenTcp } from '../../../../support/servers/tcp-servers.ts';
import { listenForClientCertificate, listenTls } from '../../../../support/servers/tls-servers.ts';

let identity: Identity;
beforeAll(async () => {
  identity = await createSelfSigned({ names: ['mail.test'] });
});

const holds = { source: 'RESPONSE_DATA', comparison: 'CONTAINS', target: 'you said hello' };
const names = {
  source: 'CERTIFICATE',
  property: 'subjectAltNames',
  comparison: 'CONTAINS',
  target: 'mail.test',
};

async function run(port: number, request: object) {
  const fixture = runFixture({ clock: systemClock });
  const whole = { hostname: '127.0.0.1', port, ...request };
  await fixture.run(checkOf('TCP', { doubleCheck: false, request: whole }));
  const [result] = fixture.results;
  const detail = result?.tcpCheckResult;
  if (detail === null || detail === undefined) throw new Error('no result of a TCP check');
  return { hasFailures: result?.hasFailures, detail };
}

/** Repeats what arrives, so that data that is sent in plain text is seen. */
function echo(socket: Socket): void {
  socket.on('data', (data) => void socket.write(`you said ${data.toString()}`));
}

/** A mail server that begins TLS when it is asked to. */
async function mailServer(answer: string): Promise<number> {
  const server = await listenTcp((socket) => {
    socket.write('220 mail.test ESMTP\r\n');
    socket.on('data', function heard(data) {
      if (data.toString().startsWith('EHLO')) socket.write('250-mail.test\r\n250 STARTTLS\r\n');
      if (!data.toString().startsWith('STARTTLS')) return;
      socket.off('data', heard);
      socket.write(answer);
      if (!answer.startsWith('220')) return;
      const secure = new TLSSocket(socket, { isServer: true, ...identity });
      secure.on('error', () => {});
      echo(secure);
    });
  });
  onTestFinished(() => server.close());
  return server.port;
}

describe('a TCP check over TLS', () => {
  test('sends and reads inside TLS, with the name and protocols of the check', async () => {
    const server = await listenTls(identity, { ALPNProtocols: ['imap'] }, '127.0.0.1', echo);
    onTestFinished(() => server.close());
    const options = { tls: 'ON', skipSSL: true, serverName: 'mail.test', alpnProtocols: ['imap'] };
    const assertions = [holds, names];
    const { hasFailures, detail } = await run(server.port, {
      ...options,
      data: 'hello',
      assertions,
    });
    expect(detail.assertions.map(({ error }) => error)).toEqual([null, null]);
    expect(hasFailures).toBe(false);
    expect(detail.response?.data).toBe('you said hello');
    expect(server.serverNames).toEqual(['mail.test']);
    expect(detail.tls).toMatchObject({
      protocol: 'TLSv1.3',
      alpnProtocol: 'imap',
      authorized: false,
      certificate: { subjectAltNames: ['mail.test'] },
    });
    const { dns, connection, tls = 0, data, total } = detail.timingPhases;
    expect(tls).toBeGreaterThan(0);
    expect(dns + connection + tls + data).toBeCloseTo(total, 1);
    expect(detail.timings.secureConnect).toBeGreaterThan(detail.timings.connect ?? 0);
  });

  test('passes without data when the handshake is done', async () => {
    const server = await listenTls(identity);
    onTestFinished(() => server.close());
    const { hasFailures, detail } = await run(server.port, { tls: 'ON', skipSSL: true });
    expect(hasFailures).toBe(false);
    expect(detail.response?.data).toBe('');
    await server.allClosed();
  });

  test('fails with a certificate that is not trusted, and shows it', async () => {
    const server = await listenTls(identity);
    onTestFinished(() => server.close());
    const { hasFailures, detail } = await run(server.port, { tls: 'ON', data: 'x' });
    expect(hasFailures).toBe(true);
    expect(detail).toMatchObject({
      requestErrorCode: 'TLS_SELF_SIGNED',
      response: null,
      tls: { authorized: false, certificate: { subjectAltNames: ['mail.test'] } },
    });
    expect(server.receivedBytes).toBe(0);
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'fails without data where a client certificate is missing, which TLS 1.3 says late (%s)',
    async (version) => {
      const server = await listenForClientCertificate(identity, identity.cert, version);
      onTestFinished(() => server.close());
      const { hasFailures, detail } = await run(server.port, { tls: 'ON', skipSSL: true });
      expect(hasFailures).toBe(true);
      expect(detail.requestErrorCode).toBe('TLS_CLIENT_CERT_REJECTED');
      expect(detail.tls?.certificate?.subjectAltNames).toEqual(['mail.test']);
      await server.allClosed();
    },
  );

  test.each([
    ['with a session ticket', Number.POSITIVE_INFINITY],
    ['with nothing', 1],
  ])(
    'passes where the server requests a certificate, and accepts none %s',
    async (_what, flights) => {
      const optional = { requestCert: true, rejectUnauthorized: false };
      const server = await listenTls(identity, optional);
      const relay = await listenTcp((client) => {
        const upstream = connect(server.port, '127.0.0.1');
        let sent = 0;
        client.on('data', (data) => {
          sent += 1;
          upstream.write(data);
        });
        upstream.on('data', (data) => void (sent <= flights && client.write(data)));
        client.on('close', () => upstream.destroy());
      });
      onTestFinished(() => Promise.all([relay.close(), server.close()]).then(() => {}));
      const { hasFailures } = await run(relay.port, { tls: 'ON', skipSSL: true });
      expect(hasFailures).toBe(false);
      await relay.allClosed();
    },
  );

  test('fails where the server speaks no TLS', async () => {
    const server = await listenTcp((socket) => void socket.write('220 mail.test\r\n'));
    onTestFinished(() => server.close());
    const { detail } = await run(server.port, { tls: 'ON' });
    expect(detail.requestErrorCode).toBe('TLS_HANDSHAKE_FAILED');
  });
});

describe('a TCP check with STARTTLS', () => {
  const starttls = { tls: 'STARTTLS', startTlsProtocol: 'SMTP', skipSSL: true, data: 'hello' };

  test('sends and reads inside TLS after the upgrade', async () => {
    const port = await mailServer('220 go ahead\r\n');
    const { hasFailures, detail } = await run(port, { ...starttls, assertions: [holds, names] });
    expect(hasFailures).toBe(false);
    expect(detail.response?.data).toBe('you said hello');
    expect(detail.jobLog.some(({ msg }) => msg.startsWith('SMTP: the server agreed'))).toBe(true);
  });

  test('fails where the server refuses, without sending its data', async () => {
    const port = await mailServer('454 TLS not available\r\n');
    const { hasFailures, detail } = await run(port, starttls);
    expect(hasFailures).toBe(true);
    expect(detail.requestErrorCode).toBe('STARTTLS_FAILED');
    expect(detail.requestError).toContain('refused STARTTLS: "454 TLS not available"');
  });
});
