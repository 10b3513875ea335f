import { describe, expect, it } from 'vitest';
import { network } from '../../../../../src/runtime/config/parsers.ts';
import {
  type AddressGuard,
  allowAll,
  denyNetworks,
} from '../../../../../src/runtime/net/address-guard.ts';
import { NO_PROXIES } from '../../../../../src/runtime/net/proxy/choose-proxy.ts';
import { readProxies } from '../../../../../src/runtime/net/proxy/proxy-variables.ts';
import { guardedAddresses } from '../../../../../src/service/outgoing/reachable-addresses.ts';
import { createPictureDownloads } from '../../../../../src/service/status-pages/pictures/download-picture.ts';
import { eventually } from '../../../../support/eventually.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { hookServer } from '../../../../support/servers/hook-server.ts';
import { httpProxy } from '../../../../support/servers/http-proxy.ts';
import { servedBy } from '../../../../support/servers/http-servers.ts';

const NEVER = new AbortController().signal;
const MIB = 1024 * 1024;

function guardOf(...texts: readonly string[]) {
  return denyNetworks(
    texts.flatMap((text) => {
      const parsed = network(text);
      return parsed.ok ? [parsed.value] : [];
    }),
  );
}

function downloadsOf(guard: AddressGuard, clock: FakeClock, proxies = NO_PROXIES) {
  const reachable = guardedAddresses(guard, 'DELIVERY_DENY denies its network');
  return createPictureDownloads({ clock, reachable, proxies });
}

async function download(url: string, guard = allowAll, signal = NEVER) {
  const downloads = downloadsOf(guard, new FakeClock());
  try {
    return await downloads.download(url, signal);
  } finally {
    await downloads.close();
  }
}

describe('the download of a picture', () => {
  it('returns the bytes, whatever the content type says', async () => {
    const server = await hookServer((_, response) => {
      response.setHeader('content-type', 'text/html');
      response.end('bytes');
    });
    expect(await download(server.url)).toEqual({ ok: true, bytes: Buffer.from('bytes') });
    expect(server.requests).toMatchObject([
      { method: 'GET', headers: { 'accept-encoding': 'identity' } },
    ]);
  });

  it('follows up to three redirects, relative ones too', async () => {
    const url = await servedBy((request, response) => {
      const number = Number(request.url?.slice(1));
      if (number < 3) response.writeHead(302, { location: `${number + 1}` }).end();
      else response.end('there');
    });
    expect(await download(`${url}/0`)).toEqual({ ok: true, bytes: Buffer.from('there') });
    const endless = await servedBy((_, response) => {
      response.writeHead(301, { location: '/' }).end();
    });
    expect(await download(endless)).toMatchObject({ problem: 'there were more than 3 redirects' });
  });

  it('go through the proxy, and to no denied address after a redirect', async () => {
    const server = await hookServer(({ path }, response) => {
      const location = 'http://127.0.0.2/secret';
      if (path === '/hook') response.writeHead(302, { location }).end();
      else response.end('bytes');
    });
    const proxy = await httpProxy();
    const proxies = readProxies({ HTTP_PROXY: proxy.url() });
    const downloads = downloadsOf(guardOf('127.0.0.2'), new FakeClock(), proxies);
    const picture = `http://localhost:${server.port}/picture`;
    expect(await downloads.download(picture, NEVER)).toMatchObject({ ok: true });
    expect(await downloads.download(server.url, NEVER)).toMatchObject({
      ok: false,
      problem: '127.0.0.2 may not be reached: DELIVERY_DENY denies its network',
    });
    await downloads.close();
    expect(proxy.requests.map(({ method }) => method)).toEqual(['CONNECT', 'GET']);
  });

  it.each(['file:///etc/passwd', 'data:image/png;base64,AA==', 'ftp://a.test/', 'http://'])(
    'does not follow a redirect to %s',
    async (location) => {
      const url = await servedBy((_, response) => {
        response.writeHead(302, { location }).end();
      });
      expect(await download(url)).toMatchObject({
        ok: false,
        problem: 'the response was the redirect 302 to no http or https URL',
      });
    },
  );

  it.each(['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '[::1]'])(
    'reaches no denied network at %s, neither at once nor after a redirect',
    async (host) => {
      const hidden = await hookServer();
      const target = `http://${host}:${hidden.port}/`;
      const guard = guardOf('127.0.0.0/8', '::1');
      expect(await download(target, guard)).toMatchObject({
        ok: false,
        isFinal: true,
        problem: expect.stringContaining('DELIVERY_DENY denies its network'),
      });
      // Only the first address is allowed.
      const open = await servedBy((_, response) => {
        response.writeHead(302, { location: `http://127.0.0.2:${hidden.port}/` }).end();
      });
      expect(await download(open, guardOf('127.0.0.2'))).toMatchObject({
        ok: false,
        isFinal: true,
      });
      expect(hidden.requests).toEqual([]);
    },
  );

  it('refuses files of more than 1 MiB, with and without a length, and takes smaller ones', async () => {
    for (const bytes of [MIB, MIB + 1]) {
      for (const hasLength of [true, false]) {
        const url = await servedBy((_, response) => {
          if (hasLength) response.setHeader('content-length', bytes);
          response.end(Buffer.alloc(bytes));
        });
        const found = await download(url);
        if (bytes === MIB) expect(found).toMatchObject({ ok: true });
        else
          expect(found).toEqual({
            ok: false,
            isFinal: true,
            problem: 'the file is larger than 1 MiB',
          });
      }
    }
  });

  it('ends a response that never ends', async () => {
    let closed = false;
    const url = await servedBy((_, response) => {
      response.on('close', () => {
        closed = true;
      });
      const more = (): void => {
        if (!response.destroyed) response.write(Buffer.alloc(65_536), () => setImmediate(more));
      };
      more();
    });
    expect(await download(url)).toMatchObject({ ok: false, isFinal: true });
    await eventually(() => closed);
  });

  it('ends after 10 s, however slowly the bytes come', async () => {
    const clock = new FakeClock();
    let closed = false;
    let isAsked = false;
    const url = await servedBy((_, response) => {
      isAsked = true;
      response.on('close', () => {
        closed = true;
      });
      response.write('a');
    });
    const downloads = downloadsOf(allowAll, clock);
    const found = downloads.download(url, NEVER);
    await eventually(() => isAsked);
    await clock.advance(10_000);
    expect(await found).toEqual({
      ok: false,
      isFinal: false,
      problem: 'the file did not arrive within 10 s',
    });
    await eventually(() => closed);
    expect(clock.pendingTimers).toBe(0);
    await downloads.close();
  });

  it('ends when the service stops', async () => {
    const stopping = new AbortController();
    const url = await servedBy(() => stopping.abort());
    expect(await download(url, allowAll, stopping.signal)).toEqual({
      ok: false,
      isFinal: false,
      problem: 'the service stopped',
    });
  });

  it.each([
    [404, 'the response was the status 404'],
    [500, 'the response was the status 500'],
    [204, 'the response was the status 204'],
  ])('is no success with the status %i', async (status, problem) => {
    const url = await servedBy((_, response) => {
      response.writeHead(status).end();
    });
    expect(await download(url)).toEqual({ ok: false, isFinal: false, problem });
  });

  it('says why nothing answered', async () => {
    // No server of another test gets a port this low.
    expect(await download('http://127.0.0.1:1/')).toMatchObject({
      problem: 'the connection was refused (ECONNREFUSED)',
    });
  });
});
