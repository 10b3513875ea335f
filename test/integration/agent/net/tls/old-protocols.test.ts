import { createServer } from 'node:tls';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { makeContext } from '../../../../support/agent/probe-context.ts';
import {
  type Authority,
  createAuthority,
  type Identity,
} from '../../../../support/servers/certificates.ts';
import { type ListeningServer, listenTcp } from '../../../../support/servers/tcp-servers.ts';
import {
  listenForClientCertificate,
  listenOldTls,
  listenToAlert,
} from '../../../../support/servers/tls-servers.ts';
import { refused, secureTo } from '../../../../support/tls-trust.ts';

let authority: Authority;
let leaf: Identity;
const servers: ListeningServer[] = [];

beforeAll(async () => {
  authority = await createAuthority();
  leaf = await authority.issue({ commonName: 'old-timer.test' });
});

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function opened<Server extends ListeningServer>(target: Promise<Server>): Promise<Server> {
  const server = await target;
  servers.push(server);
  return server;
}

describe('a server that speaks no safe TLS', () => {
  it.each(['TLSv1', 'TLSv1.1'] as const)(
    'only %s: fails, and shows its certificate',
    async (version) => {
      const server = await opened(listenOldTls(leaf, version));
      const { failure, facts } = refused(await secureTo(server.port));
      expect(failure.code).toBe('TLS_PROTOCOL_UNSUPPORTED');
      expect(failure.message).toContain(`only ${version}`);
      expect(facts).toMatchObject({
        protocol: version,
        authorized: false,
        certificate: { subject: 'CN=old-timer.test, O=Vedette Tests' },
      });
      expect(facts?.cipher).not.toBeNull();
      await server.allClosed();
      expect(server.receivedBytes).toBe(0);
    },
  );

  it('fails with skipSSL, too', async () => {
    const server = await opened(listenOldTls(leaf, 'TLSv1'));
    const { failure } = refused(await secureTo(server.port, { skipSSL: true }));
    expect(failure.code).toBe('TLS_PROTOCOL_UNSUPPORTED');
  });

  it('but accepts weak parameters is reported with what it agrees on', async () => {
    const inner = createServer({ ...leaf, maxVersion: 'TLSv1.2' });
    let connections = 0;
    const server = await opened(
      listenTcp((socket) => {
        connections += 1;
        if (connections > 1) inner.emit('connection', socket);
        else socket.once('data', () => socket.end(Buffer.from([21, 3, 3, 0, 2, 2, 40])));
      }),
    );
    const { failure, facts } = refused(await secureTo(server.port));
    expect(failure.code).toBe('TLS_HANDSHAKE_FAILED');
    expect(failure.message).toMatch(
      /with weak parameters allowed it agrees on TLSv1\.2 with ECDHE-/,
    );
    expect(facts?.certificate?.subject).toBe('CN=old-timer.test, O=Vedette Tests');
    await server.allClosed();
  });

  it('is probed outside of tlsMs', async () => {
    const server = await opened(listenOldTls(leaf, 'TLSv1'));
    const context = makeContext();
    const { tlsMs } = refused(await secureTo(server.port, {}, context));
    expect(server.accepted).toBe(2);
    expect(tlsMs).toBeGreaterThan(0);
  });

  it('is not probed past the deadline', async () => {
    let connections = 0;
    const server = await opened(
      listenTcp((socket) => {
        connections += 1;
        // The first handshake gets an alert about the version, the second nothing.
        if (connections === 1) {
          socket.once('data', () => socket.end(Buffer.from([21, 3, 1, 0, 2, 2, 70])));
        } else {
          socket.resume();
        }
      }),
    );
    const { failure, facts } = refused(
      await secureTo(server.port, {}, makeContext({ deadlineInMs: 300 })),
    );
    expect(failure.code).toBe('TLS_PROTOCOL_UNSUPPORTED');
    expect(facts).toBeNull();
    await server.allClosed();
  });

  it('that refuses the second handshake fails as in the first', async () => {
    const server = await opened(listenToAlert(70));
    expect(refused(await secureTo(server.port)).failure.code).toBe('TLS_PROTOCOL_UNSUPPORTED');
    expect(server.accepted).toBe(2);
  });
});

describe('a TLS 1.2 server that requires a client certificate', () => {
  it('is distinguished from one without a common cipher, and its certificate is shown', async () => {
    const server = await opened(listenForClientCertificate(leaf, authority.cert, 'TLSv1.2'));
    const { failure, facts } = refused(await secureTo(server.port));
    expect(failure.code).toBe('TLS_CLIENT_CERT_REJECTED');
    expect(failure.message).toContain('requires a client certificate');
    expect(facts).toMatchObject({
      protocol: 'TLSv1.2',
      authorized: false,
      certificate: { subject: 'CN=old-timer.test, O=Vedette Tests' },
    });
  });

  it('shows its certificate also where it rejects the one it got', async () => {
    const UNKNOWN_CA = Buffer.from([21, 3, 3, 0, 2, 2, 48]);
    const inner = createServer({ ...leaf, maxVersion: 'TLSv1.2' });
    let connections = 0;
    const server = await opened(
      listenTcp((socket) => {
        connections += 1;
        if (connections > 1) inner.emit('connection', socket);
        else socket.once('data', () => socket.end(UNKNOWN_CA));
      }),
    );
    const { failure, facts } = refused(await secureTo(server.port));
    expect(failure.code).toBe('TLS_CLIENT_CERT_REJECTED');
    expect(failure.message).toContain('does not trust the issuer of the client certificate');
    expect(facts?.certificate?.subject).toBe('CN=old-timer.test, O=Vedette Tests');
    await server.allClosed();
  });
});
