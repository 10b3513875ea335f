import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { failureOfTlsAlert } from '../../../../../src/agent/net/tls/tls-alerts.ts';
import type { ClientCertificate } from '../../../../../src/model/check/client-certificate.ts';
import {
  type Authority,
  createAuthority,
  createSelfSigned,
  type Identity,
} from '../../../../support/servers/certificates.ts';
import type { ListeningServer } from '../../../../support/servers/tcp-servers.ts';
import { listenForClientCertificate, listenTls } from '../../../../support/servers/tls-servers.ts';
import { refused, secured, secureTo, trusting } from '../../../../support/tls-trust.ts';

let authority: Authority;
let leaf: Identity;
let client: Identity;
const servers: ListeningServer[] = [];

beforeAll(async () => {
  authority = await createAuthority();
  leaf = await authority.issue();
  client = await authority.issue({ commonName: 'the client', names: [] });
});

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function opened<Server extends ListeningServer>(target: Promise<Server>): Promise<Server> {
  const server = await target;
  servers.push(server);
  return server;
}

describe('a client certificate', () => {
  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'is shown to a server that wants one (%s)',
    async (version) => {
      const seen: unknown[] = [];
      const server = await opened(
        listenForClientCertificate(leaf, authority.cert, version, (socket) => {
          seen.push(socket.getPeerCertificate().subject.CN);
          socket.end('welcome');
        }),
      );
      const { socket } = secured(
        await secureTo(server.port, { clientCertificate: trusting(authority, client) }),
      );
      const chunks = await socket.setEncoding('utf8').toArray();
      expect(chunks.join('')).toBe('welcome');
      expect(seen).toEqual(['the client']);
    },
  );

  it('whose key has a passphrase is used with it', async () => {
    const server = await opened(
      listenForClientCertificate(leaf, authority.cert, 'TLSv1.3', (socket) =>
        socket.end('welcome'),
      ),
    );
    const locked = lockedClient('opensesame');
    const certificate = { ...trusting(authority, locked), passphrase: 'opensesame' };
    const { socket } = secured(await secureTo(server.port, { clientCertificate: certificate }));
    const chunks = await socket.setEncoding('utf8').toArray();
    expect(chunks.join('')).toBe('welcome');
  });

  it('that is missing is reported in TLS 1.3 only after the handshake', async () => {
    const server = await opened(listenForClientCertificate(leaf, authority.cert));
    const { socket } = secured(await secureTo(server.port, { skipSSL: true }));
    const [error] = await once(socket.resume(), 'error');
    expect(failureOfTlsAlert(error)).toEqual({
      code: 'TLS_CLIENT_CERT_REJECTED',
      what: 'requires a client certificate and got none',
      message: expect.stringContaining('requires a client certificate'),
    });
  });

  it.each([
    [
      'cert is not a certificate',
      async () => ({ ...trusting(authority, client), cert: 'nonsense' }),
      /cert is not a certificate in PEM form/,
    ],
    [
      'ca is not a certificate',
      async () => ({ ...trusting(authority, client), ca: '-----BEGIN CERTIFICATE-----\n' }),
      /ca is not a certificate in PEM form/,
    ],
    [
      'key is no key',
      async () => ({ ...trusting(authority, client), key: 'nonsense' }),
      /key is not a private key in PEM form/,
    ],
    [
      'key is that of another certificate',
      async () => ({ ...trusting(authority, client), key: (await authority.issue()).key }),
      /key does not belong to cert/,
    ],
    [
      'key is of another kind',
      async () => ({ ...trusting(authority, client), key: edwardsKey() }),
      /key does not belong to cert/,
    ],
    [
      'the passphrase is missing',
      async () => trusting(authority, lockedClient('opensesame')),
      /key needs a passphrase/,
    ],
    [
      'the passphrase is wrong',
      async () => ({ ...trusting(authority, lockedClient('opensesame')), passphrase: 'no' }),
      /the passphrase does not open key/,
    ],
    [
      'the passphrase is wrong, and decrypts the key to nonsense',
      async () => {
        const locked = lockedClient('opensesame');
        return { ...trusting(authority, locked), passphrase: misleadingPassphrase(locked.key) };
      },
      /the passphrase does not open key/,
    ],
  ])('of which %s is reported, and the connection closed', async (_what, make, message) => {
    const server = await opened(listenTls(leaf));
    const certificate: ClientCertificate = await make();
    const { failure, facts, tlsMs } = refused(
      await secureTo(server.port, { clientCertificate: certificate }),
    );
    expect(failure.code).toBe('CLIENT_CERT_INVALID');
    expect(failure.message).toMatch(message);
    expect(failure.message).toContain('for *.test');
    expect(failure.message).not.toContain('nonsense');
    expect({ facts, tlsMs }).toEqual({ facts: null, tlsMs: 0 });
    await server.allClosed();
    expect(server.serverNames).toEqual([]);
  });

  it('may bring several authorities along', async () => {
    const other = await createAuthority('Other Root');
    const certificate = { ...trusting(authority, client), ca: `${other.cert}\n${authority.cert}` };
    for (const identity of [leaf, await other.issue()]) {
      const server = await opened(listenTls(identity));
      const outcome = await secureTo(server.port, { clientCertificate: certificate });
      secured(outcome).socket.destroy();
    }
  });

  it('is separate for each of many hosts', async () => {
    const server = await opened(listenTls(leaf));
    const stranger = await createAuthority('Stranger');
    // More than the cache has, so that the first is made again at the end.
    for (let index = 0; index < 70; index += 1) {
      const certificate = { ...trusting(stranger, client), host: `h${index}.test` };
      const { failure } = refused(await secureTo(server.port, { clientCertificate: certificate }));
      expect(failure.code).toBe('TLS_UNTRUSTED');
    }
    const certificate = { ...trusting(authority, client), host: 'h0.test' };
    secured(await secureTo(server.port, { clientCertificate: certificate })).socket.destroy();
  });

  it('that the server does not request does no harm', async () => {
    const server = await opened(listenTls(leaf));
    const certificate = trusting(authority, await createSelfSigned());
    secured(await secureTo(server.port, { clientCertificate: certificate })).socket.destroy();
  });
});

/** A wrong passphrase, one in about 200, that OpenSSL does not report as wrong. */
function misleadingPassphrase(key: string): string {
  for (let count = 0; ; count += 1) {
    const passphrase = `wrong ${count}`;
    try {
      createPrivateKey({ key, passphrase });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_OSSL_BAD_DECRYPT') return passphrase;
    }
  }
}

function lockedClient(passphrase: string): Identity {
  const key = createPrivateKey(client.key)
    .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase })
    .toString();
  return { cert: client.cert, key };
}

function edwardsKey(): string {
  return generateKeyPairSync('ed25519')
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
}
