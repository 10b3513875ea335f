import { Resolver } from 'node:dns/promises';
import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { makeTempFolder } from '../../support/process/temp-folder.ts';
import { startChild } from './child-process.ts';
import { freePorts } from './free-ports.ts';

/** Each name has one address. */
export const NAMES: readonly string[] = Array.from({ length: 64 }, (_, n) => `host${n}.bench.test`);

export interface NameServer {
  readonly port: number;
}

/** Starts nsd with a small zone on the loopback. */
export async function withNameServer<Value>(
  work: (server: NameServer) => Promise<Value>,
): Promise<Value> {
  const folder = makeTempFolder();
  const [port = 0] = await freePorts(1);
  const records = NAMES.map((name, n) => `${name}. 60 IN A 192.0.2.${n + 1}`).join('\n');
  const soa = 'bench.test. 60 IN SOA ns.bench.test. root.bench.test. 1 60 60 60 60';
  const zone = `${soa}\nbench.test. 60 IN NS ns.bench.test.\nns.bench.test. 60 IN A 127.0.0.1\n`;
  writeFileSync(folder.file('zone'), `${zone}${records}\n`);
  writeFileSync(
    folder.file('nsd.conf'),
    `server:
      ip-address: 127.0.0.1@${port}
      username: ""
      chroot: ""
      zonesdir: "${folder.path}"
      pidfile: ""
      xfrdfile: "${folder.file('xfrd')}"
      zonelistfile: "${folder.file('zones')}"
      xfrdir: "${folder.path}"
      server-count: 1
      rrl-ratelimit: 0
      rrl-whitelist-ratelimit: 0
    remote-control:
      control-enable: no
    zone:
      name: bench.test
      zonefile: "${folder.file('zone')}"
    `,
  );
  const server = await startChild('/usr/sbin/nsd', ['-d', '-c', folder.file('nsd.conf')]);
  try {
    await untilItAnswers(port);
    if (server.hasEnded()) throw new Error(`nsd did not start: ${server.stderr()}`);
    return await work({ port });
  } finally {
    await server.stop();
    folder.remove();
  }
}

async function untilItAnswers(port: number): Promise<void> {
  const resolver = new Resolver({ timeout: 500, tries: 1 });
  resolver.setServers([`127.0.0.1:${port}`]);
  for (let tries = 0; tries < 40; tries += 1) {
    const answer = await resolver.resolve4(NAMES[0] ?? '').catch(() => []);
    if (answer.length > 0) return;
    await delay(50);
  }
  throw new Error('nsd gives no answer');
}
