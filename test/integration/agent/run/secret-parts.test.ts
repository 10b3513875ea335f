import { expect, it } from 'vitest';
import type { Check } from '../../../../src/model/check/check.ts';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { runFixture } from '../../../support/agent/run-fixture.ts';
import { checkOf } from '../../../support/samples/checks.ts';
import { agentSecretsOf, operatorSecretsOf } from '../../../support/samples/secrets.ts';
import { answering, rawServer, response } from '../../../support/servers/http-servers.ts';
import { listenTcp } from '../../../support/servers/tcp-servers.ts';

const SECRET = 'kP7vx-Qm92hZ_tuLw4Rb';
const ONCE = { retryStrategy: null, doubleCheck: false };
const BODY = JSON.stringify({
  plain: SECRET,
  cut: SECRET.slice(4, 15),
  list: ['fine', SECRET.slice(0, 12)],
  basic: Buffer.from(`ann:${SECRET}`).toString('base64'),
});

const fails = { comparison: 'EQUALS', target: 'nothing like it' };
const passes = { comparison: 'NOT_EQUALS', target: 'nothing like it' };

/** What a run reports of its assertions, in its result and job log; its target sends the secret back. */
async function toldOf(check: (port: number) => Check): Promise<string> {
  const server = await rawServer(
    answering(response('200 OK', BODY, 'Content-Type: application/json', `X-Echo: ${SECRET}`)),
  );
  const secrets = await operatorSecretsOf({ TOKEN: SECRET });
  const fixture = runFixture({ clock: systemClock, parts: { secrets } });
  await fixture.run(check(server.port));
  expect(JSON.stringify(fixture.results)).not.toContain(SECRET);
  const { apiCheckResult, tcpCheckResult } = fixture.results[0] ?? {};
  const { assertions, jobLog } = apiCheckResult ?? tcpCheckResult ?? {};
  expect(assertions?.length).toBe(1);
  return JSON.stringify([assertions, jobLog, fixture.logRecords()]);
}

/** Every part of the secret of eight characters. */
function partsIn(text: string): readonly string[] {
  return Array.from({ length: SECRET.length - 7 }, (_, at) => SECRET.slice(at, at + 8)).filter(
    (part) => text.includes(part),
  );
}

it.each([
  { source: 'TEXT_BODY', property: '', regex: 'plain":"..(.{8})' },
  { source: 'TEXT_BODY', property: '', regex: `plain":"(.{${SECRET.length - 1}})` },
  { source: 'TEXT_BODY', property: 'plain":"...(.*?)Rb', regex: null },
  { source: 'HEADERS', property: 'x-echo', regex: '.(.+).' },
  { source: 'JSON_BODY', property: '$.list[1]', regex: null },
  { source: 'JSON_BODY', property: '$.cut', regex: null },
  { source: 'JSON_BODY', property: '$.list', regex: null },
])(
  'a part that $source $property $regex captures is masked in the result, its messages and its job log',
  async (row) => {
    for (const comparison of [fails, passes]) {
      const told = await toldOf((port) =>
        checkOf('API', {
          ...ONCE,
          request: {
            url: `http://127.0.0.1:${port}/`,
            headers: [{ key: 'x-api-key', value: '{{TOKEN}}' }],
            assertions: [{ ...row, ...comparison }],
          },
        }),
      );
      expect(partsIn(told)).toEqual([]);
      expect(told).toContain('********');
    }
  },
);

it('a part in base64 that a pattern captures is masked', async () => {
  const encoded = Buffer.from(`ann:${SECRET}`).toString('base64');
  const told = await toldOf((port) =>
    checkOf('API', {
      ...ONCE,
      request: {
        url: `http://127.0.0.1:${port}/`,
        headers: [{ key: 'x-api-key', value: '{{TOKEN}}' }],
        assertions: [{ source: 'TEXT_BODY', property: 'basic":".{8}(.{12})', ...fails }],
      },
    }),
  );
  expect(told).toContain('********');
  expect(told).not.toContain(encoded.slice(8, 20));
});

it('a part that a pattern captures of what a TCP service sends is masked', async () => {
  const server = await listenTcp((socket) => socket.end(`hello ${SECRET}\n`));
  const told = await toldOf(() =>
    checkOf('TCP', {
      ...ONCE,
      request: {
        port: server.port,
        data: '{{TOKEN}}',
        assertions: [{ source: 'RESPONSE_DATA', property: 'hello .(.{9})', ...fails }],
      },
    }),
  );
  await server.close();
  expect(partsIn(told)).toEqual([]);
  expect(told).toContain('********');
});

it('a text shorter than eight characters, or not a part of a secret, is not masked (trust model SC3)', async () => {
  const told = await toldOf((port) =>
    checkOf('API', {
      ...ONCE,
      request: {
        url: `http://127.0.0.1:${port}/`,
        assertions: [{ source: 'JSON_BODY', property: '$.list[0]', ...fails }],
      },
    }),
  );
  expect(told).toContain('"actual":"fine"');
  const short = await toldOf((port) =>
    checkOf('API', {
      ...ONCE,
      request: {
        url: `http://127.0.0.1:${port}/`,
        assertions: [{ source: 'TEXT_BODY', property: '', regex: 'plain":"..(.{7})', ...fails }],
      },
    }),
  );
  expect(short).toContain(`"actual":"${SECRET.slice(2, 9)}"`);
});

it('a part of a value that is replaced while the target is answering is masked', async () => {
  const variable = (value: string) => ({ key: 'TOKEN', value, secret: true });
  const secrets = await agentSecretsOf(variable(SECRET));
  const server = await rawServer(async (peer) => {
    await peer.request();
    const variables = [variable('another-value-altogether')];
    await secrets.take({ checks: [], variables, proxyUrl: null });
    await peer.send(response('200 OK', BODY));
    peer.close();
  });
  const fixture = runFixture({ clock: systemClock, parts: { secrets } });
  const request = {
    url: server.url(),
    headers: [{ key: 'x-api-key', value: '{{TOKEN}}' }],
    assertions: [{ source: 'TEXT_BODY', property: 'plain":"..(.{12})', ...fails }],
  };
  await fixture.run(checkOf('API', { ...ONCE, request }));
  const { assertions, jobLog } = fixture.results[0]?.apiCheckResult ?? {};
  expect(assertions?.[0]?.actual).toBe('********');
  expect(partsIn(JSON.stringify([assertions, jobLog]))).toEqual([]);
});
