import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { STARTTLS_PROTOCOLS } from '../../src/model/check/request/tcp.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { runFixture } from '../support/agent/run-fixture.ts';
import { lacking } from '../support/process/system-needs.ts';
import {
  findPostgres,
  REAL_SERVERS,
  type RealServers,
  startRealServers,
} from '../support/real-servers/starttls-servers.ts';
import { checkOf } from '../support/samples/checks.ts';
import { createSelfSigned } from '../support/servers/certificates.ts';

const lacks = lacking({ commands: [], files: REAL_SERVERS });
const missing = lacks ?? (findPostgres() === null ? 'PostgreSQL' : null);

describe.skipIf(missing !== null)(`STARTTLS of real servers${missing ?? ''}`, () => {
  let servers: RealServers;
  beforeAll(async () => {
    servers = await startRealServers(await createSelfSigned({ names: ['mail.test'] }));
  }, 120_000);
  afterAll(() => servers.stop());

  it.each(STARTTLS_PROTOCOLS)('%s', async (protocol) => {
    const fixture = runFixture({ clock: systemClock });
    const request = {
      hostname: '127.0.0.1',
      port: servers.ports[protocol],
      tls: 'STARTTLS',
      startTlsProtocol: protocol,
      skipSSL: true,
      assertions: [
        {
          source: 'CERTIFICATE',
          property: 'subjectAltNames',
          comparison: 'CONTAINS',
          target: 'mail.test',
        },
      ],
    };
    await fixture.run(checkOf('TCP', { doubleCheck: false, request }));
    const detail = fixture.results[0]?.tcpCheckResult;
    expect(detail).toMatchObject({ requestError: null, assertions: [{ error: null }] });
    expect(detail?.tls?.protocol).toMatch(/^TLSv1\.[23]$/);
  });
});
