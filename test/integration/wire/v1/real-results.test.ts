import { expect, it, onTestFinished } from 'vitest';
import type { Check } from '../../../../src/model/check/check.ts';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { readBatch, resultsEnvelope } from '../../../../src/wire/v1/results.ts';
import { loopbackResolver } from '../../../support/agent/probe-context.ts';
import { runFixture } from '../../../support/agent/run-fixture.ts';
import { checkOf } from '../../../support/samples/checks.ts';
import { startDnsResponder } from '../../../support/servers/dns-responder.ts';
import { servingZone } from '../../../support/servers/dns-zone.ts';
import { rawServer } from '../../../support/servers/http-servers.ts';
import { listenTcp, refusingPort } from '../../../support/servers/tcp-servers.ts';

/** Runs the check and sends its result as an agent does. */
async function sentAndRead(check: Check) {
  const fixture = runFixture({ clock: systemClock, parts: { resolver: loopbackResolver } });
  await fixture.run(check);
  expect(fixture.missed).toEqual([]);
  const message = { agentId: 'a', epoch: 1, results: fixture.results, missed: [] };
  const sent: typeof message = JSON.parse(JSON.stringify(message));
  return { sent: sent.results, read: await readBatch(resultsEnvelope.parse(sent)) };
}

async function expectTakenWhole(check: Check): Promise<void> {
  const { sent, read } = await sentAndRead({ ...check, doubleCheck: false });
  expect(read.rejected).toEqual([]);
  expect(sent).toHaveLength(1);
  // Assertions may show bytes of the target's that no database holds.
  const storable = JSON.parse(JSON.stringify(sent), (_key, value: unknown) =>
    typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value,
  );
  expect(read.results).toEqual(storable);
}

/** A server that answers every request with the same bytes and closes. */
async function answering(bytes: Buffer): Promise<string> {
  const server = await rawServer(async (peer) => {
    await peer.request();
    await peer.send(bytes);
    peer.close();
  });
  return server.url();
}

function http(head: readonly string[], body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${[...head, '', ''].join('\r\n')}`, 'latin1'), body]);
}

it.each<[string, Buffer]>([
  ['text', http(['HTTP/1.1 200 OK', 'Content-Type: text/plain'], Buffer.from('x'.repeat(50_000)))],
  [
    'bytes',
    http(['HTTP/1.1 200 OK'], Buffer.from(Array.from({ length: 51_200 }, (_, n) => n & 255))),
  ],
  [
    'as many headers as fit',
    http(
      ['HTTP/1.1 200 OK', ...Array.from({ length: 6000 }, (_, n) => `h${n.toString(36)}: 1`)],
      Buffer.alloc(0),
    ),
  ],
  [
    'headers of the oddest kind',
    http(
      ['HTTP/1.1 599 \xff\xfe', 'Set-Cookie: a', 'Set-Cookie: b', 'x: \xe9\xff', '__proto2__: 1'],
      Buffer.from('{"a": 1}'),
    ),
  ],
  ['a redirect to nowhere', http(['HTTP/1.1 302 Found', 'Location: http://[::1'], Buffer.alloc(0))],
  [
    'redirects without end',
    http(['HTTP/1.1 302 Found', `Location: /${'\xe9'.repeat(20_000)}`], Buffer.alloc(0)),
  ],
  ['no HTTP', Buffer.from('\0\0\0nonsense')],
  ['nothing', Buffer.alloc(0)],
])('the result of an HTTP check answered with %s is taken whole', async (_what, bytes) => {
  const url = await answering(bytes);
  const assertions = [
    { source: 'JSON_BODY', property: '$.a', comparison: 'EQUALS', target: '2' },
    { source: 'HEADERS', property: 'x', comparison: 'IS_NULL' },
    { source: 'TEXT_BODY', comparison: 'EQUALS', target: 'none' },
  ];
  await expectTakenWhole(checkOf('API', { request: { url, assertions } }));
});

it('a result with characters that a database cannot store is accepted without them', async () => {
  const url = await answering(
    http(['HTTP/1.1 200 OK', 'Content-Type: text/plain'], Buffer.from('a\0b')),
  );
  const { read } = await sentAndRead(checkOf('URL', { request: { url } }));
  expect(read.rejected).toEqual([]);
  expect(JSON.stringify(read.results)).not.toContain('\\u0000');
  expect(read.results).toHaveLength(1);
});

it('the results of TCP checks are accepted completely', async () => {
  const talking = await listenTcp((socket) => void socket.end(Buffer.alloc(65_536, 'é')));
  onTestFinished(() => talking.close());
  const silent = await refusingPort();
  onTestFinished(silent.close);
  for (const port of [talking.port, silent.port]) {
    const assertions = [{ source: 'RESPONSE_DATA', comparison: 'CONTAINS', target: 'none' }];
    await expectTakenWhole(checkOf('TCP', { request: { port, data: 'hello', assertions } }));
  }
});

it('the results of DNS checks are accepted completely', async () => {
  const record = { name: 'web.example', type: 'A', data: '192.0.2.1' } as const;
  const server = await startDnsResponder({ udp: servingZone({ 'web.example 1': [record] }) });
  onTestFinished(() => server.close());
  for (const query of ['web.example', 'none.example']) {
    const request = { query, nameServer: '127.0.0.1', port: server.port };
    await expectTakenWhole(checkOf('DNS', { request }));
  }
});

it('the results of ICMP checks are accepted completely', async () => {
  for (const hostname of ['localhost', 'nowhere.invalid']) {
    await expectTakenWhole(checkOf('ICMP', { request: { hostname, pingCount: 1 } }));
  }
});
