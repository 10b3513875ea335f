import { describe, expect, onTestFinished, test } from 'vitest';
import type { Resolver } from '../../../../../src/agent/net/resolver.ts';
import { type AddressGuard, denyNetworks } from '../../../../../src/runtime/net/address-guard.ts';
import { logText, makeContext, staticResolver } from '../../../../support/agent/probe-context.ts';
import { createSelfSigned } from '../../../../support/servers/certificates.ts';
import { httpProxy } from '../../../../support/servers/http-proxy.ts';
import { probe } from '../../../../support/servers/http-requests.ts';
import { answering, rawServer, response } from '../../../../support/servers/http-servers.ts';
import { http2Server } from '../../../../support/servers/http2/servers.ts';
import { refusingPort } from '../../../../support/servers/tcp-servers.ts';

function denying(address: string, prefixBits: number): AddressGuard {
  return denyNetworks([{ text: `${address}/${prefixBits}`, address, prefixBits }]);
}

/** Denies only addresses that no test uses, which is enough to distrust the proxy. */
const GUARD = denying('198.51.100.0', 24);

describe('TARGET_DENY and a proxy', () => {
  test("the proxy's own address is tested (trust model SN3)", async () => {
    const proxy = await httpProxy();
    const guard = denying('127.0.0.0', 8);
    const resolver = staticResolver({ 'good.test': ['192.0.2.1'] });
    const context = makeContext({ guard, resolver });
    const { failure } = await probe('https://good.test/', { context, proxyUrl: proxy.url() });
    expect(failure).toMatchObject({
      code: 'ADDRESS_DENIED',
      message: expect.stringMatching(/^The proxy .* TARGET_DENY blocks it.* 127\.0\.0\.0\/8/),
    });
    expect(proxy.requests).toEqual([]);
  });

  test.each([
    'https://inside.test/',
    'http://inside.test/',
    'https://198.51.100.7/',
    'http://[64:ff9b::c633:6407]/',
  ])(
    'the target is resolved and tested here, and the proxy never asked: %s (trust model SN3)',
    async (url) => {
      const proxy = await httpProxy();
      const resolver = staticResolver({ 'inside.test': ['198.51.100.7'] });
      const context = makeContext({ guard: GUARD, resolver });
      const { failure } = await probe(url, { context, proxyUrl: proxy.url() });
      expect(failure?.code).toBe('ADDRESS_DENIED');
      expect(proxy.requests).toEqual([]);
      expect(proxy.open).toBe(0);
    },
  );

  test('the proxy is given the address that was tested, also for http', async () => {
    const target = await rawServer(answering(response('200 OK', 'by its address')));
    const proxy = await httpProxy();
    const context = makeContext({ guard: GUARD });
    const { response: got } = await probe(`http://plain.test:${target.port}/a`, {
      context,
      proxyUrl: proxy.url(),
    });
    expect(got).toMatchObject({ status: 200, body: 'by its address', ip: '127.0.0.1' });
    expect(proxy.requests).toMatchObject([
      { method: 'CONNECT', target: `127.0.0.1:${target.port}` },
    ]);
    expect(target.requests[0]).toMatch(/^GET \/a HTTP\/1\.1\r\n[\s\S]*host: plain\.test/i);
    expect(logText(context)).toContain('TARGET_DENY is set');
  });

  test('TLS is still with the name', async () => {
    const target = await http2Server(await createSelfSigned({ names: ['good.test'] }), (stream) => {
      stream.respond({ ':status': 200 });
      stream.end();
    });
    const proxy = await httpProxy();
    const { response: got } = await probe(`https://good.test:${target.port}/`, {
      context: makeContext({ guard: GUARD }),
      request: { skipSSL: true },
      proxyUrl: proxy.url(),
    });
    expect(got).toMatchObject({ status: 200, ip: '127.0.0.1' });
    expect(target.requests[0]?.[':authority']).toBe(`good.test:${target.port}`);
    expect(proxy.requests[0]?.target).toBe(`127.0.0.1:${target.port}`);
  });

  test('a name that rebinds leads nowhere: one look-up, and its address alone is used', async () => {
    const target = await rawServer(answering(response('200 OK')));
    const asked: string[] = [];
    const rebinding: Resolver = {
      resolve(hostname) {
        if (hostname === '127.0.0.1') return Promise.resolve({ ok: true, addresses: [hostname] });
        asked.push(hostname);
        const address = asked.length === 1 ? '127.0.0.1' : '198.51.100.7';
        return Promise.resolve({ ok: true, addresses: [address] });
      },
    };
    // By the name, the proxy would go to the denied address.
    const proxy = await httpProxy({
      resolve: (host) => (host === 'rebinding.test' ? '198.51.100.7' : host),
    });
    const context = makeContext({ guard: GUARD, resolver: rebinding });
    const url = `http://rebinding.test:${target.port}/`;
    const first = await probe(url, { context, proxyUrl: proxy.url() });
    expect(first.response?.status).toBe(200);
    expect(asked).toEqual(['rebinding.test']);
    const second = await probe(url, { context, proxyUrl: proxy.url() });
    expect(second.failure?.code).toBe('ADDRESS_DENIED');
    expect(proxy.requests).toHaveLength(1);
  });

  test('denied addresses are left out, and the next one is tried where the proxy cannot', async () => {
    const target = await rawServer(answering(response('200 OK')));
    const closed = await refusingPort('127.0.0.2');
    onTestFinished(() => closed.close());
    const resolver = staticResolver({
      'many.test': ['198.51.100.7', '127.0.0.2', '127.0.0.1'],
    });
    const proxy = await httpProxy({ resolve: (host) => host });
    const context = makeContext({ guard: GUARD, resolver });
    const { response: got } = await probe(`http://many.test:${target.port}/`, {
      context,
      proxyUrl: proxy.url(),
    });
    expect(got).toMatchObject({ status: 200, ip: '127.0.0.1' });
    expect(proxy.requests.map(({ target: where }) => where)).toEqual([
      `127.0.0.2:${target.port}`,
      `127.0.0.1:${target.port}`,
    ]);
    expect(logText(context)).toMatch(/skipped addresses that .* 198\.51\.100\.7/);
    expect(logText(context)).toMatch(/502 .*trying the next address/);
  });

  test('a proxy that refuses CONNECT to the port is reported as such', async () => {
    const proxy = await rawServer(answering('HTTP/1.1 403 Access violation\r\n\r\n'));
    const { failure } = await probe('http://plain.test/', {
      context: makeContext({ guard: GUARD }),
      proxyUrl: proxy.url(),
    });
    expect(failure).toMatchObject({
      code: 'PROXY_REFUSED',
      message: expect.stringMatching(/plain\.test:80 \(127\.0\.0\.1\).*where TARGET_DENY is set/),
    });
  });

  test('a redirect into a denied network ends there', async () => {
    const target = await rawServer(
      answering(response('302 Found', '', 'Location: http://198.51.100.7/meta')),
    );
    const proxy = await httpProxy();
    const { failure } = await probe(`http://plain.test:${target.port}/`, {
      context: makeContext({ guard: GUARD }),
      proxyUrl: proxy.url(),
    });
    expect(failure?.code).toBe('ADDRESS_DENIED');
    expect(proxy.requests).toHaveLength(1);
  });
});
