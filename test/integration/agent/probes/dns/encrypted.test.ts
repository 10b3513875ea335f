import { once } from 'node:events';
import { createServer } from 'node:https';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { probeDns } from '../../../../../src/agent/probes/dns/probe.ts';
import type { ClientCertificate } from '../../../../../src/model/check/client-certificate.ts';
import { type DnsRequest, dnsRequestSchema } from '../../../../../src/model/check/request/dns.ts';
import { denyNetworks } from '../../../../../src/runtime/net/address-guard.ts';
import {
  type ContextOptions,
  logText,
  makeContext,
} from '../../../../support/agent/probe-context.ts';
import {
  type Authority,
  createAuthority,
  type Identity,
} from '../../../../support/servers/certificates.ts';
import { framed } from '../../../../support/servers/dns-responder.ts';
import {
  type AskedQuestion,
  answerTo,
  readQuestion,
} from '../../../../support/servers/dns-wire.ts';
import { httpProxy } from '../../../../support/servers/http-proxy.ts';
import { http2Server } from '../../../../support/servers/http2/servers.ts';
import {
  listenInPlainText,
  listenSilently,
  listenTls,
} from '../../../../support/servers/tls-servers.ts';
import { trusting } from '../../../../support/tls-trust.ts';

let authority: Authority;
let identity: Identity;
let trust: ClientCertificate;
beforeAll(async () => {
  authority = await createAuthority();
  identity = await authority.issue({ names: ['dns.test'] });
  trust = trusting(authority, identity);
});

async function probe(
  fields: Partial<DnsRequest>,
  options: ContextOptions & {
    readonly proxyUrl?: string;
    readonly certificate?: ClientCertificate;
  } = {},
) {
  const context = makeContext(options);
  const request = dnsRequestSchema.parse({
    query: 'example.com',
    nameServer: 'dns.test',
    ...fields,
  });
  const outcome = await probeDns(request, context, {
    proxyUrl: () => options.proxyUrl ?? null,
    clientCertificates: () => [options.certificate ?? trust],
    nameServers() {
      throw new Error('the system was not to be asked');
    },
  });
  return { ...outcome, log: logText(context) };
}

const ADDRESS = { name: 'example.com', type: 'A', ttl: 300, data: '192.0.2.1' } as const;
const answer = (asked: AskedQuestion): Buffer => answerTo(asked, { answers: [ADDRESS] });

/** A server of DNS over TLS that answers each question as the test wants it. */
async function dotServer(
  onQuestion: (asked: AskedQuestion, socket: TLSSocket) => void | Promise<void>,
  options: TlsOptions = {},
): Promise<number> {
  const server = await listenTls(identity, options, '127.0.0.1', (socket) => {
    socket.once('data', (bytes: Buffer) => {
      void onQuestion(readQuestion(bytes.subarray(2), 'TCP'), socket);
    });
  });
  onTestFinished(() => server.close());
  return server.port;
}

describe('DNS over TLS', () => {
  it('has the answer, the phases, the certificate and a log', async () => {
    const port = await dotServer((asked, socket) => void socket.write(framed(answer(asked))));
    const outcome = await probe({ protocol: 'DOT', port });
    expect(outcome).toMatchObject({
      failure: null,
      request: { nameServer: 'dns.test', port, protocol: 'DOT' },
      endpoint: { hostname: 'dns.test', address: '127.0.0.1', port, transport: 'tcp' },
      response: {
        answer: { Answer: [{ data: '192.0.2.1' }] },
        nameServer: { host: 'dns.test', port, protocol: 'DOT' },
      },
      tls: { authorized: true, certificate: { subjectAltNames: ['dns.test'] } },
    });
    expect(outcome.response?.text).toContain(`;; SERVER: 127.0.0.1#${port}(dns.test) (DOT)`);
    expect(outcome.log).toContain(
      `Question A example.com to dns.test:${port} over DOT: NOERROR, 1 record; tcp `,
    );
  });

  it('reads an answer that comes byte by byte, behind one to another question', async () => {
    const port = await dotServer(async (asked, socket) => {
      const other = framed(answerTo(asked, { id: asked.id ^ 1 }));
      for (const byte of Buffer.concat([other, framed(answer(asked))])) {
        socket.write(Buffer.from([byte]));
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    expect((await probe({ protocol: 'DOT', port })).response?.responseCode).toBe('NOERROR');
  });

  it.each<[string, (asked: AskedQuestion, socket: TLSSocket) => void, string, RegExp]>([
    [
      'ends in the middle of an answer',
      (asked, socket) => void socket.end(framed(answer(asked)).subarray(0, 20)),
      'DNS_MALFORMED',
      /closed the TLS connection in the middle of an answer \(18 of \d+ bytes arrived\)/,
    ],
    [
      'ends without an answer',
      (_asked, socket) => void socket.end(),
      'DNS_UNREACHABLE',
      /closed the TLS connection without an answer/,
    ],
    [
      'answers other questions for ever',
      (asked, socket) => {
        const other = framed(answerTo(asked, { name: 'other.example' }));
        void socket.write(Buffer.concat(Array.from({ length: 100 }, () => other)));
      },
      'DNS_MALFORMED',
      /kept sending messages that answer another question/,
    ],
    [
      'sends a message that is none',
      (asked, socket) => {
        const bytes = answer(asked);
        void socket.write(framed(bytes.subarray(0, bytes.length - 2)));
      },
      'DNS_MALFORMED',
      /over TLS with \d+ bytes that are not a DNS answer/,
    ],
    [
      'resets the connection',
      (_asked, socket) => void socket.destroy(),
      'DNS_UNREACHABLE',
      /TLS connection/,
    ],
  ])('fails for a server that %s', async (_what, onQuestion, code, message) => {
    const port = await dotServer(onQuestion);
    const { failure, response, tls } = await probe({ protocol: 'DOT', port });
    expect(failure).toEqual({ code, message: expect.stringMatching(message) });
    expect(response).toBeNull();
    expect(tls?.authorized).toBe(true);
  });

  it('fails after its time for a server that says nothing', async () => {
    const port = await dotServer(() => {});
    const { failure } = await probe({ protocol: 'DOT', port }, { deadlineInMs: 500 });
    expect(failure?.code).toBe('DNS_TIMEOUT');
    expect(failure?.message).toContain('over TLS within');
  });

  it('is cancelled with the run', async () => {
    const controller = new AbortController();
    const port = await dotServer(() => controller.abort());
    const { failure } = await probe({ protocol: 'DOT', port }, { signal: controller.signal });
    expect(failure?.code).toBe('CANCELLED');
  });

  it('distinguishes a server without TLS, or without an answer to the handshake, from one with it', async () => {
    const plain = await listenInPlainText();
    const silent = await listenSilently();
    onTestFinished(() => Promise.all([plain.close(), silent.close()]).then(() => {}));
    const found = await probe({ protocol: 'DOT', port: plain.port });
    expect(found.failure?.code).toBe('TLS_HANDSHAKE_FAILED');
    const waited = await probe({ protocol: 'DOT', port: silent.port }, { deadlineInMs: 300 });
    expect(waited.failure?.code).toBe('TLS_TIMEOUT');
  });

  it('names a client certificate that the server requires, and that TLS 1.3 asks for late', async () => {
    const options = { requestCert: true, rejectUnauthorized: true };
    const port = await dotServer(() => {}, options);
    const certificate = { ...trust, host: 'other.test' };
    const { failure } = await probe({ protocol: 'DOT', port, skipSSL: true }, { certificate });
    expect(failure?.code).toBe('TLS_CLIENT_CERT_REJECTED');
    expect(failure?.message).toContain('requires a client certificate and got none');
  });

  it('checks the certificate for the name server, or for serverName', async () => {
    const port = await dotServer((asked, socket) => void socket.write(framed(answer(asked))));
    const wrong = await probe({ protocol: 'DOT', port, nameServer: 'ns.test' });
    expect(wrong).toMatchObject({
      response: null,
      failure: { code: 'TLS_HOSTNAME_MISMATCH' },
      tls: { authorized: false, certificate: { subjectAltNames: ['dns.test'] } },
    });
    const named = { protocol: 'DOT', port, nameServer: '127.0.0.1' } as const;
    const certificate = { ...trust, host: '127.0.0.1' };
    const byName = await probe({ ...named, serverName: 'dns.test' }, { certificate });
    expect(byName.failure).toBeNull();
    const skipped = await probe({ ...named, skipSSL: true });
    expect(skipped).toMatchObject({ failure: null, tls: { authorized: false } });
  });

  it.each(['DOT', 'DOH'] as const)(
    'over %s shows a client certificate to its host, not to one that a check gives its name',
    async (protocol) => {
      const seen: (string | undefined)[] = [];
      const see = (socket: TLSSocket) => seen.push(socket.getPeerCertificate().fingerprint256);
      const asking = { requestCert: true, rejectUnauthorized: false };
      const port =
        protocol === 'DOT'
          ? await dotServer((asked, socket) => {
              see(socket);
              socket.write(framed(answer(asked)));
            }, asking)
          : (await dohServer(answer, {}, { ...asking, onSocket: see })).port;
      const elsewhere = { nameServer: '127.0.0.1', serverName: 'dns.test', skipSSL: true };
      const ends = [await probe({ protocol, port, ...elsewhere }), await probe({ protocol, port })];
      expect(ends.map(({ failure }) => failure)).toEqual([null, null]);
      expect(seen).toEqual([undefined, expect.any(String)]);
    },
  );

  it.each(['DOT', 'DOH'] as const)('over %s is not sent to a denied address', async (protocol) => {
    const guard = denyNetworks([{ text: '127.0.0.0/8', address: '127.0.0.0', prefixBits: 8 }]);
    const { failure } = await probe({ protocol, port: 5353 }, { guard });
    expect(failure?.code).toBe('ADDRESS_DENIED');
  });

  it('names a name server whose name does not exist', async () => {
    for (const protocol of ['DOT', 'DOH'] as const) {
      const { failure } = await probe({ protocol, nameServer: 'nope.invalid' });
      expect(failure).toEqual({
        code: 'DNS_NXDOMAIN',
        message: 'The name server nope.invalid has no known address: nope.invalid does not exist',
      });
    }
  });
});

/** A server of DNS over HTTPS, HTTP/2, that answers each question as the test wants it. */
async function dohServer(
  answerOf: (asked: AskedQuestion) => Buffer,
  headers: Readonly<Record<string, string | number>> = {},
  { onSocket, ...options }: TlsOptions & { readonly onSocket?: (socket: TLSSocket) => void } = {},
) {
  const onStream: Parameters<typeof http2Server>[1] = (stream, request) => {
    onSocket?.(stream.session?.socket as TLSSocket);
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      const search = new URL(String(request[':path']), 'https://dns.test').searchParams;
      const sent = Buffer.from(search.get('dns') ?? '', 'base64url');
      const asked = readQuestion(sent.length > 0 ? sent : Buffer.concat(chunks), 'TCP');
      stream.respond({ ':status': 200, 'content-type': 'application/dns-message', ...headers });
      stream.end(answerOf(asked));
    });
  };
  return http2Server(identity, onStream, options);
}

describe('DNS over HTTPS', () => {
  it.each(['POST', 'GET'] as const)(
    'sends the question by %s, with the id 0',
    async (dohMethod) => {
      const ids: number[] = [];
      const { port, requests } = await dohServer((asked) => {
        ids.push(asked.id);
        return answer(asked);
      });
      const outcome = await probe({ protocol: 'DOH', port, dohMethod, dohPath: '/resolve' });
      expect(outcome).toMatchObject({
        failure: null,
        response: { responseCode: 'NOERROR', nameServer: { protocol: 'DOH' } },
        tls: { authorized: true, alpnProtocol: 'h2' },
      });
      expect(ids).toEqual([0]);
      expect(requests).toMatchObject([
        {
          ':method': dohMethod,
          ':path': expect.stringMatching(
            dohMethod === 'GET' ? /^\/resolve\?dns=[\w-]+$/ : /^\/resolve$/,
          ),
          accept: 'application/dns-message',
        },
      ]);
    },
  );

  it('uses HTTP/1.1 if the server has nothing else', async () => {
    const server = createServer(identity, (request, reply) => {
      request.once('data', (bytes: Buffer) => {
        reply.setHeader('content-type', 'application/dns-message');
        reply.end(answer(readQuestion(bytes, 'TCP')));
      });
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const outcome = await probe({ protocol: 'DOH', port });
    expect(outcome).toMatchObject({
      response: { responseCode: 'NOERROR' },
      tls: { alpnProtocol: 'http/1.1' },
    });
  });

  it('goes through the proxy of the location, which DNS over TLS does not (trust model SC5)', async () => {
    const proxy = await httpProxy();
    const { port } = await dohServer(answer);
    const proxyUrl = proxy.url();
    const outcome = await probe({ protocol: 'DOH', port }, { proxyUrl });
    expect(outcome.response?.responseCode).toBe('NOERROR');
    expect(proxy.requests).toMatchObject([{ method: 'CONNECT', target: `dns.test:${port}` }]);
    const dotPort = await dotServer((asked, socket) => void socket.write(framed(answer(asked))));
    const direct = await probe({ protocol: 'DOT', port: dotPort }, { proxyUrl });
    expect(direct.response?.responseCode).toBe('NOERROR');
    expect(proxy.requests).toHaveLength(1);
  });

  it.each<[string, Parameters<typeof dohServer>, string, RegExp]>([
    [
      'has no such path',
      [() => Buffer.from('gone'), { ':status': 404 }],
      'DNS_HTTP_STATUS',
      /answered with the HTTP status 404/,
    ],
    [
      'answers with a page',
      [() => Buffer.from('<html>'), { 'content-type': 'text/html; charset=utf-8' }],
      'DNS_MALFORMED',
      /answered with text\/html, not with application\/dns-message/,
    ],
    [
      'answers with more than a message can be',
      [(asked) => Buffer.concat([answer(asked), Buffer.alloc(10_000_000)])],
      'DNS_MALFORMED',
      /more than 65535 bytes/,
    ],
    [
      'answers with another id',
      [(asked) => answerTo(asked, { id: 7 })],
      'DNS_MALFORMED',
      /not a DNS answer to the question/,
    ],
    [
      'answers another question',
      [(asked) => answerTo(asked, { name: 'other.example' })],
      'DNS_MALFORMED',
      /not a DNS answer to the question/,
    ],
    [
      'answers with half a message',
      [(asked) => answer(asked).subarray(0, 30)],
      'DNS_MALFORMED',
      /30 bytes that are not a DNS answer/,
    ],
    [
      'answers with nothing',
      [() => Buffer.alloc(0)],
      'DNS_MALFORMED',
      /0 bytes that are not a DNS/,
    ],
  ])('fails for a server that %s', async (_what, server, code, message) => {
    const { port } = await dohServer(...server);
    const { failure, response } = await probe({ protocol: 'DOH', port });
    expect(failure).toEqual({ code, message: expect.stringMatching(message) });
    expect(response).toBeNull();
  });
});
