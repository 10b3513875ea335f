import type { Socket } from 'node:net';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ClientCertificate } from '../../../../../src/model/check/client-certificate.ts';
import { logText, makeContext } from '../../../../support/agent/probe-context.ts';
import { eventually } from '../../../../support/eventually.ts';
import {
  type Authority,
  createAuthority,
  createSelfSigned,
  type Identity,
} from '../../../../support/servers/certificates.ts';
import { type ListeningServer, listenTcp } from '../../../../support/servers/tcp-servers.ts';
import {
  listenForHello,
  listenInPlainText,
  listenSilently,
  listenTls,
  listenToAlert,
  listenToReset,
} from '../../../../support/servers/tls-servers.ts';
import { refused, secured, secureTo, trusting } from '../../../../support/tls-trust.ts';

let authority: Authority;
let leaf: Identity;
let trust: ClientCertificate;
const servers: ListeningServer[] = [];

beforeAll(async () => {
  authority = await createAuthority();
  leaf = await authority.issue({
    commonName: 'leaf.test',
    names: ['localhost', '*.wild.test'],
    addresses: ['127.0.0.1', '::1'],
    validToDays: 30.5,
  });
  trust = trusting(authority, await authority.issue());
});

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function opened<Server extends ListeningServer>(target: Promise<Server>): Promise<Server> {
  const server = await target;
  servers.push(server);
  return server;
}

describe('a handshake with a trusted server', () => {
  it.each([
    ['localhost', '127.0.0.1', 'localhost'],
    ['LOCALHOST.', '127.0.0.1', 'LOCALHOST'],
    ['a.wild.test', '::1', 'a.wild.test'],
    ['127.0.0.1', '127.0.0.1', false],
    ['::1', '::1', false],
    ['[::1]', '::1', false],
  ])('succeeds for %s', async (hostname, host, serverName) => {
    const server = await opened(listenTls(leaf, {}, host, (socket) => socket.end('hello')));
    const outcome = secured(
      await secureTo(server.port, { hostname, host, clientCertificate: trust }),
    );
    expect(outcome.facts.authorized).toBe(true);
    expect(outcome.tlsMs).toBeGreaterThan(0);
    const chunks = await outcome.socket.setEncoding('utf8').toArray();
    expect(chunks.join('')).toBe('hello');
    expect(server.serverNames).toEqual([serverName]);
  });

  it('has the facts of certificate and connection', async () => {
    const server = await opened(listenTls(leaf, { ALPNProtocols: ['h2', 'http/1.1'] }));
    const outcome = secured(
      await secureTo(server.port, {
        alpnProtocols: ['http/1.1', 'h2'],
        clientCertificate: trust,
      }),
    );
    outcome.socket.destroy();
    expect(outcome.facts).toEqual({
      protocol: 'TLSv1.3',
      cipher: expect.stringMatching(/^TLS_/),
      alpnProtocol: 'h2',
      authorized: true,
      certificate: {
        subject: 'CN=leaf.test, O=Vedette Tests',
        issuer: 'CN=Test Root',
        subjectAltNames: ['localhost', '*.wild.test', '127.0.0.1', '0:0:0:0:0:0:0:1'],
        validFrom: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/),
        validTo: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/),
        daysRemaining: 30,
        serialNumber: expect.stringMatching(/^[0-9A-F]+$/),
        fingerprint256: expect.stringMatching(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/),
        keyType: 'EC',
        keyBits: 256,
      },
    });
  });

  it('works over TLS 1.2', async () => {
    const server = await opened(listenTls(leaf, { maxVersion: 'TLSv1.2' }));
    const outcome = secured(await secureTo(server.port, { clientCertificate: trust }));
    outcome.socket.destroy();
    expect(outcome.facts.protocol).toBe('TLSv1.2');
    expect(outcome.facts.alpnProtocol).toBeNull();
  });

  it('returns a socket with all methods of Node', async () => {
    const server = await opened(listenTls(leaf));
    const { socket } = secured(await secureTo(server.port, { clientCertificate: trust }));
    expect(Object.hasOwn(socket, 'getPeerCertificate')).toBe(false);
    socket.destroy();
  });

  it('makes a full handshake each time', async () => {
    const server = await opened(listenTls(leaf));
    for (let round = 0; round < 2; round += 1) {
      const { socket } = secured(await secureTo(server.port, { clientCertificate: trust }));
      expect(socket.isSessionReused()).toBe(false);
      socket.destroy();
    }
  });
});

describe('an invalid certificate', () => {
  const cases: readonly {
    readonly what: string;
    readonly make: () => Promise<Identity>;
    readonly code: string;
    readonly message: RegExp;
    readonly subject?: string;
  }[] = [
    {
      what: 'expired',
      make: () => authority.issue({ commonName: 'old.test', validToDays: -3 }),
      code: 'TLS_CERT_EXPIRED',
      message: /\(CN=old\.test, O=Vedette Tests\) that expired on \d{4}-\d\d-\d\dT/,
    },
    {
      what: 'issued by an expired intermediate',
      make: async () =>
        (await authority.intermediate({ commonName: 'Old Middle', validToDays: -3 })).issue(),
      code: 'TLS_CERT_EXPIRED',
      message: /\(CN=Old Middle\) that expired on/,
    },
    {
      what: 'not valid yet',
      make: () => authority.issue({ validFromDays: 2 }),
      code: 'TLS_CERT_NOT_YET_VALID',
      message: /not valid before \d{4}-/,
    },
    {
      what: 'for other names',
      make: () => authority.issue({ names: ['one.test', 'two.test'], addresses: ['192.0.2.7'] }),
      code: 'TLS_HOSTNAME_MISMATCH',
      message: /for one\.test, two\.test, 192\.0\.2\.7, not for localhost/,
    },
    {
      what: 'for too many other names to tell',
      make: () =>
        authority.issue({ names: Array.from({ length: 12 }, (_, index) => `n${index}.test`) }),
      code: 'TLS_HOSTNAME_MISMATCH',
      message: /n9\.test and 2 more, not for localhost/,
    },
    {
      what: 'for no name',
      make: () => authority.issue({ commonName: 'other.test', names: [] }),
      code: 'TLS_HOSTNAME_MISMATCH',
      message: /for no host but CN=other\.test/,
    },
    {
      what: 'self-signed',
      make: () => createSelfSigned({ commonName: 'self.test' }),
      code: 'TLS_SELF_SIGNED',
      message: /self-signed certificate \(CN=self\.test\)/,
    },
    {
      what: 'of a root that is not trusted and is sent along',
      make: async () => {
        const other = await createAuthority('Other Root');
        const identity = await other.issue();
        return { cert: `${identity.cert}${other.cert}`, key: identity.key };
      },
      code: 'TLS_SELF_SIGNED',
      message: /issued by CN=Other Root\) whose chain ends in a self-signed one/,
    },
    {
      what: 'sent without its intermediate',
      make: async () => {
        const identity = await (await authority.intermediate()).issue();
        const [first = ''] = identity.cert.split(/(?<=-----END CERTIFICATE-----\n)/);
        return { cert: first, key: identity.key };
      },
      code: 'TLS_UNTRUSTED',
      message: /its issuer CN=Test Intermediate .* send an intermediate/,
    },
  ];

  it('for an address written as a name is distinguished from one for the address', async () => {
    const server = await opened(listenTls(await authority.issue({ names: ['127.0.0.1'] })));
    const options = { hostname: '127.0.0.1', clientCertificate: trust };
    const { failure } = refused(await secureTo(server.port, options));
    expect(failure.code).toBe('TLS_HOSTNAME_MISMATCH');
    expect(failure.message).toMatch(
      /for 127\.0\.0\.1, not for the address 127\.0\.0\.1 \(an IP entry/,
    );
  });

  it.each(cases)('$what fails before anything is sent, and is reported', async (one) => {
    const server = await opened(listenTls(await one.make()));
    const outcome = refused(await secureTo(server.port, { clientCertificate: trust }));
    expect(outcome.failure).toEqual({
      code: one.code,
      message: expect.stringMatching(one.message),
    });
    expect(outcome.failure.message).toContain(`localhost:${server.port} (127.0.0.1)`);
    expect(outcome.facts?.authorized).toBe(false);
    expect(outcome.facts?.certificate?.fingerprint256).toMatch(/^[0-9A-F:]{95}$/);
    expect(outcome.facts?.protocol).toBe('TLSv1.3');
    expect(outcome.tlsMs).toBeGreaterThan(0);
    await server.allClosed();
    expect(server.receivedBytes).toBe(0);
  });

  it.each(cases)(
    '$what passes with skipSSL, and the facts stay true (trust model SC6)',
    async (one) => {
      const server = await opened(listenTls(await one.make()));
      const context = makeContext();
      const outcome = secured(
        await secureTo(server.port, { skipSSL: true, clientCertificate: trust }, context),
      );
      outcome.socket.destroy();
      expect(outcome.facts.authorized).toBe(false);
      expect(logText(context)).toMatch(one.message);
    },
  );

  it('has negative remaining days when it has expired', async () => {
    const server = await opened(listenTls(await authority.issue({ validToDays: -2.5 })));
    const { facts } = refused(await secureTo(server.port, { clientCertificate: trust }));
    expect(facts?.certificate?.daysRemaining).toBe(-3);
  });

  it('is not trusted only because another host has an authority of its own (trust model SC6)', async () => {
    const server = await opened(listenTls(leaf));
    secured(await secureTo(server.port, { clientCertificate: trust })).socket.destroy();
    expect(refused(await secureTo(server.port)).failure.code).toBe('TLS_UNTRUSTED');
  });
});

describe('a handshake that fails', () => {
  it('reports that the port does not speak TLS', async () => {
    const server = await opened(listenInPlainText());
    const { failure, facts } = refused(await secureTo(server.port));
    expect(failure.code).toBe('TLS_HANDSHAKE_FAILED');
    expect(failure.message).toMatch(/does not speak TLS/);
    expect(facts).toBeNull();
    expect(server.accepted).toBe(1);
  });

  it('reports the same if the port speaks first', async () => {
    const server = await opened(listenForHello((socket) => socket.end('220 mail.test ESMTP\r\n')));
    expect(refused(await secureTo(server.port)).failure.message).toMatch(/does not speak TLS/);
  });

  it.each([
    ['a reset', () => listenToReset()],
    ['a close', () => listenForHello((socket) => socket.end())],
    ['half a record', () => listenForHello((socket) => socket.end(Buffer.from([22, 3, 3, 0])))],
  ])('reports %s as TLS_RESET', async (_what, listen) => {
    const server = await opened(listen());
    const outcome = refused(await secureTo(server.port));
    expect(outcome.failure.code).toBe('TLS_RESET');
    expect(outcome.tlsMs).toBeGreaterThan(0);
  });

  it('ends if the server sends HelloRequests without end', async () => {
    // RFC 5246 7.4.1.1: four zeros each, which a client skips in the middle of a handshake.
    const record = Buffer.concat([Buffer.from([22, 3, 3, 0x40, 0]), Buffer.alloc(0x4000)]);
    const server = await opened(
      listenForHello((socket) => {
        const send = (): void => {
          if (!socket.destroyed) socket.write(record, () => setImmediate(send));
        };
        send();
      }),
    );
    const context = makeContext({ deadlineInMs: 3_600_000 });
    const { failure } = refused(await secureTo(server.port, {}, context));
    expect(failure.code).toBe('TLS_HANDSHAKE_FAILED');
    expect(failure.message).toMatch(/sent more than 1 MiB in the TLS handshake/);
    await server.allClosed();
  });

  it('reports silence as TLS_TIMEOUT at the deadline', async () => {
    const server = await opened(listenSilently());
    const outcome = refused(await secureTo(server.port, {}, makeContext({ deadlineInMs: 100 })));
    expect(outcome.failure.code).toBe('TLS_TIMEOUT');
    await server.allClosed();
  });

  it('that is cancelled before it begins closes the connection, too', async () => {
    const server = await opened(listenSilently());
    const stop = new AbortController();
    const beforeHandshake = async (): Promise<void> => stop.abort();
    const context = makeContext({ signal: stop.signal });
    const outcome = refused(await secureTo(server.port, { beforeHandshake }, context));
    expect(outcome.failure.code).toBe('CANCELLED');
    await eventually(() => server.accepted === 1);
    await server.allClosed();
  });

  it('ends when the run is cancelled, and closes the connection', async () => {
    const stop = new AbortController();
    const server = await opened(listenForHello(() => stop.abort()));
    const outcome = refused(await secureTo(server.port, {}, makeContext({ signal: stop.signal })));
    expect(outcome.failure.code).toBe('CANCELLED');
    await server.allClosed();
  });

  it.each([
    [112, 'TLS_HANDSHAKE_FAILED', /serves no host of that name/],
    [120, 'TLS_HANDSHAKE_FAILED', /ALPN/],
    [80, 'TLS_HANDSHAKE_FAILED', /internal error/],
    [40, 'TLS_HANDSHAKE_FAILED', /shares no cipher/],
    [70, 'TLS_PROTOCOL_UNSUPPORTED', /neither TLS 1\.2 nor 1\.3/],
    [116, 'TLS_CLIENT_CERT_REJECTED', /requires a client certificate/],
    [48, 'TLS_CLIENT_CERT_REJECTED', /does not trust the issuer/],
  ])('reports alert %i as %s', async (alert, code, message) => {
    const server = await opened(listenToAlert(alert));
    const { failure, facts } = refused(await secureTo(server.port));
    expect(failure).toEqual({ code, message: expect.stringMatching(message) });
    expect(facts).toBeNull();
  });

  it.each([
    ['reset', (socket: Socket) => socket.resetAndDestroy()],
    ['closed', (socket: Socket) => socket.end()],
  ])('finishes when the connection is %s before it starts', async (_how, lose) => {
    const accepted: Socket[] = [];
    const server = await opened(listenTcp((socket) => accepted.push(socket)));
    const outcome = await secureTo(server.port, {
      beforeHandshake: async (connection) => {
        await eventually(() => accepted.length > 0);
        const closed = new Promise((resolve) => connection.resume().once('close', resolve));
        for (const socket of accepted) lose(socket);
        await closed;
      },
    });
    expect(refused(outcome).failure.code).toBe('TLS_RESET');
  });
});
