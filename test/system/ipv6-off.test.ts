import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { forwardTo, openPorts } from '../support/network/namespace-ports.ts';
import { NetworkNamespace } from '../support/network/network-namespace.ts';
import { lacking } from '../support/process/system-needs.ts';
import { makeTestFolder } from '../support/process/test-folder.ts';
import { startAgent, startService, until } from '../support/service/deployment.ts';

const lacks = lacking({ commands: ['ip', 'sysctl', 'sh', 'mount', 'tinyproxy'], files: [] });
const path = (name: string): string =>
  fileURLToPath(new URL(`../support/network/${name}`, import.meta.url));
const SERVICE_PORT = 8080;
const PROXY_PORT = 8888;
const ASKING = `fetch('http://127.0.0.1:' + process.argv[1]).then(async (answer) =>
  console.log(answer.status, await answer.text()))`;

/** A machine without IPv6, on which all names have addresses of both families. */
async function machine(servicePort: number) {
  const namespace = new NetworkNamespace();
  onTestFinished(() => namespace.remove());
  for (const where of ['all', 'default', 'lo']) {
    namespace.run('sysctl', '-qw', `net.ipv6.conf.${where}.disable_ipv6=1`);
  }
  namespace.allowPing('all');
  const folder = makeTestFolder();
  await openPorts(namespace, { [SERVICE_PORT]: forwardTo(servicePort) });
  const conf = join(folder, 'resolv.conf');
  writeFileSync(conf, 'nameserver 127.0.0.1\n');
  // `ip netns exec` gives each command its own mount namespace.
  const withNames = [
    'sh',
    '-c',
    `mount --bind ${conf} /etc/resolv.conf && exec "$0" "$@"`,
  ] as const;
  const start = async (...command: readonly string[]): Promise<void> => {
    const child = namespace.start(...withNames, ...command);
    const ended = once(child, 'close');
    onTestFinished(async () => {
      child.stdin.end();
      // The one that reads no input is a proxy.
      child.kill('SIGKILL');
      await ended;
    });
    await once(child.stdout, 'data');
  };
  await start(process.execPath, path('dual-stack-names.mjs'));
  const proxyConf = join(folder, 'tinyproxy.conf');
  writeFileSync(
    proxyConf,
    `Port ${PROXY_PORT}\nListen 127.0.0.1\nMaxClients 50\nLogLevel Connect\n`,
  );
  await start('tinyproxy', '-d', '-c', proxyConf);
  return { namespace, prefix: ['ip', 'netns', 'exec', namespace.name, ...withNames] };
}

const LIMIT = { timeout: 300_000 };

describe.skipIf(lacks !== null)(
  `A machine without IPv6 (lacking: ${lacks ?? 'nothing'})`,
  LIMIT,
  () => {
    it('an agent serves its health, reaches its service and runs every type of check', async () => {
      const service = await startService();
      const location = await service.addLocation('cellar');
      const { namespace, prefix } = await machine(service.port);
      const common = {
        frequency: 1440,
        privateLocations: ['cellar'],
        retryStrategy: { type: 'NO_RETRIES' },
      };
      const hostname = 'dual.test';
      const ipFamily = 'IPv6';
      const url = `http://${hostname}:9000/`;
      const requests = {
        url: { url, ipFamily },
        api: { method: 'GET', url, ipFamily },
        tcp: { hostname, port: 9000, ipFamily },
        dns: { query: hostname, recordType: 'AAAA', nameServer: hostname, port: 53 },
        icmp: { hostname, pingCount: 1, ipFamily },
      };
      const ids = new Map<string, string>();
      for (const [type, request] of Object.entries(requests)) {
        ids.set(type, await service.addCheck(type, { ...common, name: type, request }));
      }
      const run = async (type: string): Promise<void> => {
        const reply = await service.ask(`/v1/checks/${ids.get(type)}/run`, {
          method: 'POST',
          body: { location: 'cellar' },
        });
        expect(reply.status).toBeLessThan(300);
      };
      const stdoutFile = join(makeTestFolder(), 'results');
      const results = () =>
        !existsSync(stdoutFile)
          ? []
          : readFileSync(stdoutFile, 'utf8')
              .split('\n')
              .filter((line) => line !== '')
              .map((line) => JSON.parse(line));
      const options = {
        serviceUrl: `http://service.test:${SERVICE_PORT}`,
        key: location.key,
        prefix,
        stdoutFile,
      };

      const agent = await startAgent({ ...options, dataDir: makeTestFolder() });
      await agent.logged(/checks loaded/);
      expect(
        namespace.run(process.execPath, '-e', ASKING, `${agent.healthPort}/-/readiness`),
      ).toMatch(/^200 /);
      for (const type of ids.keys()) await run(type);
      const found = await until(
        async () => results(),
        (all) => all.length >= ids.size,
      );
      expect(found.map(({ checkType, hasFailures }) => [checkType, hasFailures])).toEqual(
        expect.arrayContaining(['URL', 'API', 'TCP', 'DNS', 'ICMP'].map((type) => [type, false])),
      );
      for (const result of found) {
        if (result.checkType === 'DNS') continue;
        expect(JSON.stringify(result)).toContain(
          'this machine has no IPv6: falling back to IPv4 for dual.test',
        );
      }
      expect(await agent.kill('SIGTERM')).toBe(0);

      // Also through proxies whose names have both.
      const proxyUrl = `http://proxy.test:${PROXY_PORT}`;
      const changed = await service.ask(`/v1/private-locations/${location.id}`, {
        method: 'PUT',
        body: { slug: 'cellar', name: 'Cellar', proxyUrl },
      });
      expect(changed.status).toBe(200);
      const second = await startAgent({ ...options, env: { HTTP_PROXY: proxyUrl } });
      await second.logged(/checks loaded/);
      await run('url');
      const last = await until(
        async () => results(),
        (all) => all.length > found.length,
      );
      expect(last.at(-1)).toMatchObject({ checkType: 'URL', hasFailures: false });
      expect(JSON.stringify(last.at(-1))).toContain(`connecting through the proxy ${proxyUrl}`);
      expect(await second.kill('SIGTERM')).toBe(0);
    });
  },
);
