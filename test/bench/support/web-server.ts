import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { makeTempFolder } from '../../support/process/temp-folder.ts';
import { createAuthority } from '../../support/servers/certificates.ts';
import { startChild } from './child-process.ts';
import { freePorts } from './free-ports.ts';

/**
 * New connections to one address and port exhaust the ephemeral ports, and those of the previous
 * minute slow down the next ones. Therefore there are many addresses and ports.
 */
const PORTS = 32;
const ADDRESSES = Array.from({ length: 16 }, (_, n) => `127.0.0.${n + 1}`);
const BODY = JSON.stringify({
  status: 'ok',
  items: Array.from({ length: 40 }, (_, n) => `item ${n}`),
});

interface Address {
  readonly hostname: string;
  readonly port: number;
}

export interface WebServer {
  /** `http://127.0.0.…:…`, each of an address and a port of its own. */
  readonly plain: readonly string[];
  /** The same servers, as `127.0.0.…` and port. */
  readonly addresses: readonly Address[];
  /** `https://localhost:…`: a leaf below an intermediate below the authority in `caFile`. */
  readonly secure: readonly string[];
  readonly securePorts: readonly number[];
  readonly caFile: string;
}

/** Starts nginx, which answers at once and closes the connection. */
export async function withWebServer<Value>(
  work: (server: WebServer) => Promise<Value>,
): Promise<Value> {
  const folder = makeTempFolder();
  const authority = await createAuthority('Bench Root');
  const identity = await (await authority.intermediate()).issue({ names: ['localhost'] });
  const caFile = folder.file('ca.pem');
  writeFileSync(caFile, authority.cert);
  writeFileSync(folder.file('cert.pem'), identity.cert);
  writeFileSync(folder.file('key.pem'), identity.key);
  const ports = await freePorts(2 * PORTS);
  const [plainPorts, securePorts] = [ports.slice(0, PORTS), ports.slice(PORTS)];
  const listen = (on: readonly Address[], rest: string): string =>
    on.map(({ hostname, port }) => `listen ${hostname}:${port} backlog=4096${rest};`).join('\n');
  const addresses = ADDRESSES.flatMap((hostname) => plainPorts.map((port) => ({ hostname, port })));
  const securePlaces = securePorts.map((port) => ({ hostname: '127.0.0.1', port }));
  const answer = `keepalive_timeout 0; default_type application/json; location / { return 200 '${BODY}'; }`;
  const config = folder.file('nginx.conf');
  writeFileSync(
    config,
    `daemon off; worker_processes 1; pid ${folder.file('pid')}; error_log stderr error; user root;
    events { worker_connections 8192; }
    http {
      access_log off;
      client_body_temp_path ${folder.file('body')}; proxy_temp_path ${folder.file('proxy')};
      fastcgi_temp_path ${folder.file('f')}; uwsgi_temp_path ${folder.file('u')}; scgi_temp_path ${folder.file('s')};
      ssl_certificate ${folder.file('cert.pem')}; ssl_certificate_key ${folder.file('key.pem')};
      ssl_protocols TLSv1.2 TLSv1.3; ssl_session_cache off; ssl_session_tickets off;
      server { ${listen(addresses, '')} ${answer} }
      server { ${listen(securePlaces, ' ssl')} ${answer} }
    }`,
  );
  const server = await startChild('nginx', ['-c', config, '-p', folder.path]);
  try {
    const [first = 0, last = 0] = [plainPorts[0], securePorts.at(-1)];
    await Promise.all([untilListening(first), untilListening(last)]);
    if (server.hasEnded()) throw new Error(`nginx did not start: ${server.stderr()}`);
    return await work({
      plain: addresses.map(({ hostname, port }) => `http://${hostname}:${port}`),
      addresses,
      secure: securePorts.map((port) => `https://localhost:${port}`),
      securePorts,
      caFile,
    });
  } finally {
    await server.stop();
    folder.remove();
  }
}

async function untilListening(port: number): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
    if (isOpen) return;
    await delay(50);
  }
  throw new Error(`nothing listens on port ${port}`);
}
