import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTestFolder } from '../process/test-folder.ts';
import type { Identity } from '../servers/certificates.ts';
import { freePort, startServer } from '../servers/real-proxies.ts';

export interface RealResolver {
  /** DNS over TLS. */
  readonly tlsPort: number;
  /** DNS over HTTPS, at /dns-query, over HTTP/2 only. */
  readonly httpsPort: number;
}

/**
 * Debian's unbound on loopback, with DNS over TLS and over HTTPS. It ends with the test.
 *
 * @param records lines of a zone file; all names below `test.` that have none do not exist
 */
export async function startUnbound(
  identity: Identity,
  records: readonly string[],
): Promise<RealResolver> {
  const [port, tlsPort, httpsPort] = [await freePort(), await freePort(), await freePort()];
  const folder = makeTestFolder();
  const write = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const config = [
    'server:',
    'chroot: ""',
    'username: ""',
    'pidfile: ""',
    `directory: "${folder}"`,
    'use-syslog: no',
    'num-threads: 1',
    `port: ${port}`,
    `tls-port: ${tlsPort}`,
    `https-port: ${httpsPort}`,
    ...[port, tlsPort, httpsPort].map((each) => `interface: 127.0.0.1@${each}`),
    `tls-service-key: "${write('key.pem', identity.key)}"`,
    `tls-service-pem: "${write('cert.pem', identity.cert)}"`,
    'local-zone: "test." static',
    ...records.map((record) => `local-data: '${record}'`),
    'remote-control:',
    'control-enable: no',
  ];
  const file = write('unbound.conf', `${config.join('\n')}\n`);
  await startServer(['unbound', '-d', '-p', '-c', file], httpsPort, file, /^$/);
  return { tlsPort, httpsPort };
}
