import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { HeadBucketCommand } from '@aws-sdk/client-s3';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { readProxies } from '../../../../../src/runtime/net/proxy/proxy-variables.ts';
import { createS3Client } from '../../../../../src/service/object-store/s3/s3-client.ts';
import { tunnelAgents } from '../../../../../src/service/object-store/s3/tunnel-agents.ts';
import { createSelfSigned } from '../../../../support/servers/certificates.ts';
import { hookServer } from '../../../../support/servers/hook-server.ts';
import { httpProxy } from '../../../../support/servers/http-proxy.ts';
import { answering, listen, rawServer } from '../../../../support/servers/http-servers.ts';
import { refusingPort } from '../../../../support/servers/tcp-servers.ts';

afterEach(() => vi.unstubAllEnvs());

function clientOf(endpoint: string, env: Record<string, string>, attempts = 1) {
  const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' };
  const options = { bucket: 'b', prefix: '', region: 'eu', endpoint, pathStyle: true, credentials };
  const limits = { attempts };
  const client = createS3Client({ ...options, direct: null, limits }, endpoint, readProxies(env));
  onTestFinished(() => client.destroy());
  return client;
}

describe('the bucket', () => {
  it('is reached through a tunnel of the proxy', async () => {
    const store = await hookServer();
    const proxy = await httpProxy();
    const client = clientOf(`http://store.test:${store.port}`, { HTTP_PROXY: proxy.url('a:b') });
    await client.send(new HeadBucketCommand({ Bucket: 'b' }));
    expect(store.requests).toMatchObject([
      { method: 'HEAD', path: '/b/', headers: { host: `store.test:${store.port}` } },
    ]);
    expect(proxy.requests).toMatchObject([
      { method: 'CONNECT', target: `store.test:${store.port}` },
    ]);
    expect(proxy.requests[0]?.headers['proxy-authorization']).toMatch(/^Basic /);
  });

  it('is reached directly where NO_PROXY names it', async () => {
    const store = await hookServer();
    const proxy = await httpProxy();
    const env = { HTTP_PROXY: proxy.url(), NO_PROXY: '127.0.0.0/8' };
    const client = clientOf(new URL(store.url).origin, env);
    await client.send(new HeadBucketCommand({ Bucket: 'b' }));
    expect(store.requests).toHaveLength(1);
    expect(proxy.requests).toEqual([]);
  });

  it('cannot be reached while the proxy is away, which the error says without credentials', async () => {
    const away = await refusingPort();
    onTestFinished(() => away.close());
    const env = { HTTP_PROXY: `http://ann:s3cret@127.0.0.1:${away.port}` };
    const failure = await clientOf('http://store.test', env)
      .send(new HeadBucketCommand({ Bucket: 'b' }))
      .catch((error: unknown) => error);
    expect(String(failure)).toContain('no connection to the proxy of HTTP_PROXY');
    expect(JSON.stringify(failure)).not.toMatch(/s3cret|YW5u/);
  });

  it('is tried again after the proxy failed', async () => {
    const proxy = await rawServer(answering('HTTP/1.1 503 Busy\r\n\r\n'));
    const client = clientOf('http://store.test', { HTTP_PROXY: `127.0.0.1:${proxy.port}` }, 2);
    await expect(client.send(new HeadBucketCommand({ Bucket: 'b' }))).rejects.toThrow(
      'answered 503 to CONNECT',
    );
    expect(proxy.requests).toHaveLength(2);
  });

  it('keeps no connection in progress when its client ends', async () => {
    let begin = (): void => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const proxy = await rawServer(async (peer) => {
      await peer.request();
      begin();
    });
    const client = clientOf('http://store.test', { HTTP_PROXY: `127.0.0.1:${proxy.port}` });
    const failed = expect(client.send(new HeadBucketCommand({ Bucket: 'b' }))).rejects.toThrow(
      'no tunnel through the proxy of HTTP_PROXY: the service ended the connection',
    );
    await begun;
    client.destroy();
    await failed;
    await proxy.idle();
  });

  it('gets TLS through the tunnel, with its own name', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const servernames: unknown[] = [];
    const identity = await createSelfSigned({ names: ['store.test'] });
    const server = createServer(identity, ({ socket }, reply) => {
      servernames.push('servername' in socket ? socket.servername : null);
      reply.end('ok');
    });
    const port = await listen(server);
    const proxy = await httpProxy();
    const { httpsAgent } = tunnelAgents(readProxies({ HTTPS_PROXY: proxy.url() }), 5_000);
    onTestFinished(() => {
      httpsAgent?.destroy();
      server.closeAllConnections();
      server.close();
    });
    const asked = request({ host: 'store.test', port, agent: httpsAgent }).end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    expect(await text(answer)).toBe('ok');
    expect(servernames).toEqual(['store.test']);
    expect(proxy.requests).toMatchObject([{ method: 'CONNECT', target: `store.test:${port}` }]);
  });
});
