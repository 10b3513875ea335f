import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../../../src/runtime/clock.ts';
import { runFixture } from '../../../../support/agent/run-fixture.ts';
import { checkOf } from '../../../../support/samples/checks.ts';
import { createSelfSigned, type Identity } from '../../../../support/servers/certificates.ts';
import { response } from '../../../../support/servers/http-servers.ts';
import { listenTcp } from '../../../../support/servers/tcp-servers.ts';
import { listenTls } from '../../../../support/servers/tls-servers.ts';

let identity: Identity;
let expired: Identity;
beforeAll(async () => {
  identity = await createSelfSigned({ names: ['shop.test', 'also.test'], validToDays: 30 });
  expired = await createSelfSigned({ validFromDays: -30, validToDays: -10 });
});

const is = (property: string, comparison: string, target = '') => {
  return { source: 'CERTIFICATE', property, comparison, target };
};

async function served(of: Identity): Promise<string> {
  const server = await listenTls(of, {}, '127.0.0.1', (socket) => {
    socket.once('data', () => socket.end(response('200 OK', 'safe')));
  });
  onTestFinished(() => server.close());
  return `https://127.0.0.1:${server.port}/`;
}

async function run(request: object, fields: object = {}) {
  const fixture = runFixture({ clock: systemClock });
  await fixture.run(checkOf('URL', { doubleCheck: false, request, ...fields }));
  const detail = fixture.results[0]?.apiCheckResult;
  return {
    hasFailures: fixture.results[0]?.hasFailures,
    errors: detail?.assertions.map(({ error }) => error),
    actual: detail?.assertions.map(({ actual }) => actual),
  };
}

describe('assertions on the certificate', () => {
  test('compare each of its facts, and those of the connection', async () => {
    const url = await served(identity);
    const assertions = [
      is('daysRemaining', 'GREATER_THAN', '28'),
      is('subject', 'EQUALS', 'CN=self-signed.test'),
      is('issuer', 'NOT_CONTAINS', 'Root'),
      is('subjectAltNames', 'CONTAINS', 'also.test'),
      is('keyType', 'EQUALS', 'EC'),
      is('keyBits', 'GREATER_THAN', '255'),
      is('protocol', 'EQUALS', 'TLSv1.3'),
      is('authorized', 'EQUALS', 'false'),
      is('validTo', 'GREATER_THAN', '2026'),
    ];
    const result = await run({ url, skipSSL: true, assertions });
    expect(result.errors).toEqual(assertions.map(() => null));
    expect(result.hasFailures).toBe(false);
  });

  test('fail with the fact that was found', async () => {
    const url = await served(identity);
    const assertions = [
      is('daysRemaining', 'GREATER_THAN', '60'),
      is('subjectAltNames', 'CONTAINS', 'other.test'),
    ];
    const result = await run({ url, skipSSL: true, assertions });
    expect(result).toMatchObject({ hasFailures: true, actual: ['29', expect.any(String)] });
    expect(result.errors?.[0]).toBe(
      'expected daysRemaining of the certificate to be greater than 60, but it was 29',
    );
  });

  test('fail without TLS, also those that want something not to be', async () => {
    const server = await listenTcp((socket) => {
      socket.once('data', () => socket.end(response('200 OK', 'plain')));
    });
    onTestFinished(() => server.close());
    const url = `http://127.0.0.1:${server.port}/`;
    const assertions = [is('issuer', 'NOT_CONTAINS', 'Root'), is('keyBits', 'IS_NULL')];
    const result = await run({ url, assertions });
    expect(result.hasFailures).toBe(true);
    expect(result.errors).toEqual([
      'expected issuer of the certificate not to contain "Root", but the connection had no TLS',
      'expected keyBits of the certificate to be null, but the connection had no TLS',
    ]);
  });

  test('compare what a rejected certificate says, so that a check can require it to be expired', async () => {
    const url = await served(expired);
    const assertions = [is('daysRemaining', 'LESS_THAN', '0')];
    const result = await run({ url, assertions }, { shouldFail: true });
    expect(result).toMatchObject({ hasFailures: false, errors: [null] });
  });
});
