import type { Socket } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  type Authority,
  createAuthority,
  createSelfSigned,
  type Identity,
} from '../../../../support/servers/certificates.ts';
import { probe } from '../../../../support/servers/http-requests.ts';
import { listen, response } from '../../../../support/servers/http-servers.ts';
import {
  listenForClientCertificate,
  listenInPlainText,
  listenTls,
  type TlsServer,
} from '../../../../support/servers/tls-servers.ts';
import { trusting } from '../../../../support/tls-trust.ts';

let authority: Authority;
let client: Identity;
let good: Identity;
beforeAll(async () => {
  authority = await createAuthority();
  client = await authority.issue({ commonName: 'client' });
  good = await authority.issue({ commonName: 'good.test', names: ['good.test', 'also.test'] });
});

/** Responds to the first bytes. */
function answer(socket: TLSSocket, bytes: Buffer = response('200 OK', 'safe')): void {
  socket.once('data', () => socket.end(bytes));
}

async function served(server: Promise<TlsServer>): Promise<TlsServer> {
  const running = await server;
  onTestFinished(() => running.close());
  return running;
}

describe('certificates', () => {
  test('a trusted one: the response has the facts, and the handshake its own phase', async () => {
    const server = await served(listenTls(good, {}, '127.0.0.1', answer));
    const {
      response: got,
      failure,
      tls,
      timings,
      timingPhases,
    } = await probe(`https://good.test:${server.port}/`, {
      clientCertificates: [trusting(authority, client)],
    });
    expect(failure).toBeNull();
    expect(got).toMatchObject({ status: 200, body: 'safe', httpVersion: '1.1' });
    expect(got?.tls).toMatchObject({
      protocol: 'TLSv1.3',
      authorized: true,
      certificate: { subject: expect.stringContaining('good.test') },
    });
    expect(tls).toEqual(got?.tls);
    expect(timingPhases.tls).toBeGreaterThan(0);
    expect(timings.secureConnect).toBeGreaterThan(timings.connect ?? Number.NaN);
  });

  test.each([
    [
      'an expired one',
      'TLS_CERT_EXPIRED',
      () => authority.issue({ names: ['good.test'], validToDays: -5 }),
    ],
    [
      'one for another host',
      'TLS_HOSTNAME_MISMATCH',
      () => authority.issue({ names: ['else.test'] }),
    ],
    ['a self-signed one', 'TLS_SELF_SIGNED', () => createSelfSigned({ names: ['good.test'] })],
  ])('%s is %s, with its facts, before anything is sent', async (_name, code, make) => {
    const server = await served(listenTls(await make(), {}, '127.0.0.1', answer));
    const options = { clientCertificates: [trusting(authority, client)] };
    const url = `https://good.test:${server.port}/`;
    const refused = await probe(url, options);
    expect(refused.failure?.code).toBe(code);
    expect(refused.response).toBeNull();
    expect(refused.tls?.certificate?.validTo).toMatch(/^\d{4}-/);
    expect(refused.tls?.authorized).toBe(false);
    expect(refused.timings).toMatchObject({ connect: expect.any(Number), secureConnect: null });
    await server.allClosed();
    expect(server.receivedBytes).toBe(0);

    const passed = await probe(url, { ...options, request: { skipSSL: true } });
    expect(passed.failure).toBeNull();
    expect(passed.response).toMatchObject({ status: 200, tls: { authorized: false } });
    await server.allClosed();
  });

  test('a server without TLS on the port is a failed handshake', async () => {
    const server = await listenInPlainText();
    onTestFinished(() => server.close());
    const { failure } = await probe(`https://127.0.0.1:${server.port}/`);
    expect(failure?.code).toBe('TLS_HANDSHAKE_FAILED');
    await server.allClosed();
  });
});

describe('client certificates', () => {
  test('the certificate for the host is presented', async () => {
    const seen: string[] = [];
    const server = await served(
      listenForClientCertificate(good, authority.cert, 'TLSv1.3', (socket) => {
        seen.push(String(socket.getPeerCertificate().subject.CN));
        answer(socket);
      }),
    );
    const certificates = [trusting(authority, client)];
    const url = `https://good.test:${server.port}/`;
    const { response: got } = await probe(url, { clientCertificates: certificates });
    expect(got?.status).toBe(200);
    expect(seen).toEqual(['client']);
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'none for a server that wants one is TLS_CLIENT_CERT_REJECTED (%s)',
    async (version) => {
      const server = await served(
        listenForClientCertificate(good, authority.cert, version, answer),
      );
      const { failure, response: got } = await probe(`https://good.test:${server.port}/`, {
        request: { skipSSL: true },
      });
      expect(failure?.code).toBe('TLS_CLIENT_CERT_REJECTED');
      expect(got).toBeNull();
      await server.allClosed();
    },
  );

  test('the certificate for the first host is not presented to another', async () => {
    const seen: boolean[] = [];
    const options = { requestCert: true, rejectUnauthorized: false };
    const server: TlsServer = await served(
      listenTls(good, options, '127.0.0.1', (socket) => {
        seen.push(Object.keys(socket.getPeerCertificate()).length > 0);
        const location = `Location: https://also.test:${server.port}/`;
        answer(
          socket,
          seen.length === 1 ? response('302 Found', '', location) : response('200 OK'),
        );
      }),
    );
    const certificates = [{ ...trusting(authority, client), host: 'good.test' }];
    const { response: got } = await probe(`https://good.test:${server.port}/`, {
      clientCertificates: certificates,
      request: { skipSSL: true },
    });
    expect(got?.status).toBe(200);
    expect(seen).toEqual([true, false]);
  });
});

describe('a connection that breaks', () => {
  const HEAD = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfour';

  test.each([
    ['reset', 'CONNECTION_RESET', (connection: Socket) => connection.resetAndDestroy()],
    ['closed', 'BODY_TRUNCATED', (connection: Socket) => connection.end()],
  ])('inside the body: %s is %s, with what came', async (_name, code, cut) => {
    const connections: Socket[] = [];
    const server = createServer(good, (socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        socket.write(HEAD, () => connections.map(cut));
      });
    });
    server.on('connection', (connection) => connections.push(connection));
    const port = await listen(server);
    onTestFinished(() => void server.close());
    const { failure, response: got } = await probe(`https://good.test:${port}/`, {
      request: { skipSSL: true },
    });
    expect(failure?.code).toBe(code);
    expect(got).toMatchObject({ status: 200, body: 'four' });
  });
});
