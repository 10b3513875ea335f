import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, expect, it } from 'vitest';
import { makeTempFolder } from '../../../../support/process/temp-folder.ts';
import { createAuthority } from '../../../../support/servers/certificates.ts';
import { listenTls, type TlsServer } from '../../../../support/servers/tls-servers.ts';
import { trusting } from '../../../../support/tls-trust.ts';

const DIST = join(import.meta.dirname, '../../../../../dist/agent/net/tls/secure-contexts.js');
const run = promisify(execFile);

/** Node reads NODE_EXTRA_CA_CERTS only at its start, hence the separate process. */
const SCRIPT = `
  import { readFileSync } from 'node:fs';
  import { connect } from 'node:tls';
  import { once } from 'node:events';
  const [module, ports, certificate] = process.argv.slice(1);
  const { secureContextFor, trustExtraRoots } = await import(module);
  trustExtraRoots(readFileSync(process.env.NODE_EXTRA_CA_CERTS, 'utf8'));
  const { context: secureContext } = secureContextFor(JSON.parse(certificate));
  const trusted = [];
  for (const port of JSON.parse(ports)) {
    const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', secureContext, rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    trusted.push(socket.authorized);
    socket.destroy();
  }
  console.log(JSON.stringify(trusted));
`;

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

it('trusts NODE_EXTRA_CA_CERTS, also beside the authority of a client certificate', async () => {
  const [extra, own] = [await createAuthority('Extra'), await createAuthority('Own')];
  const servers: TlsServer[] = [];
  for (const authority of [extra, own]) {
    const server = await listenTls(await authority.issue());
    cleanUps.push(() => server.close());
    servers.push(server);
  }
  const folder = makeTempFolder();
  cleanUps.push(() => folder.remove());
  writeFileSync(folder.file('extra.pem'), extra.cert);

  const trusted = async (certificate: unknown): Promise<unknown> => {
    const ports = JSON.stringify(servers.map(({ port }) => port));
    const { stdout } = await run(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        SCRIPT,
        pathToFileURL(DIST).href,
        ports,
        JSON.stringify(certificate),
      ],
      { env: { NODE_EXTRA_CA_CERTS: folder.file('extra.pem') } },
    );
    return JSON.parse(stdout);
  };
  expect(await trusted(null)).toEqual([true, false]);
  expect(await trusted(trusting(own, await own.issue()))).toEqual([true, true]);
});
