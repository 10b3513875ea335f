import { describe, expect, it, onTestFinished } from 'vitest';
import type { RunnableCheckType } from '../../../../src/model/enums.ts';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { loopbackResolver } from '../../../support/agent/probe-context.ts';
import { runFixture } from '../../../support/agent/run-fixture.ts';
import { icmpCapability } from '../../../support/network/icmp-capability.ts';
import { type CheckFields, checkOf } from '../../../support/samples/checks.ts';
import { startDnsResponder } from '../../../support/servers/dns-responder.ts';
import { servingZone } from '../../../support/servers/dns-zone.ts';

const mayPing = (await icmpCapability()) !== 'none';

function is(source: string, comparison: string, target: string, property = '') {
  return { source, comparison, target, property };
}

async function run(type: RunnableCheckType, fields: CheckFields) {
  const fixture = runFixture({ clock: systemClock, parts: { resolver: loopbackResolver } });
  await fixture.run(checkOf(type, { doubleCheck: false, ...fields }));
  expect(fixture.results).toHaveLength(1);
  return fixture.results[0];
}

/** A server that knows web.example, or a port on which none is. */
async function nameServer(serves: 'zone' | 'nothing'): Promise<number> {
  const zone = {
    'web.example 1': [{ name: 'web.example', type: 'A', data: '192.0.2.1' }],
  } as const;
  const server = await startDnsResponder(serves === 'zone' ? { udp: servingZone(zone) } : {});
  onTestFinished(() => server.close());
  return server.port;
}

const UNKNOWN = is('RESPONSE_CODE', 'EQUALS', 'NXDOMAIN');
const ADDRESS = is('JSON_ANSWER', 'EQUALS', '192.0.2.1', '$.Answer[0].data');
const NO_RESPONSE = expect.stringContaining('but there was no response');

describe('a DNS check', () => {
  it.each<[string, 'zone' | 'nothing', string, CheckFields, object[], boolean]>([
    ['NOERROR', 'zone', 'web.example', {}, [], false],
    ['NOERROR, and an assertion', 'zone', 'web.example', {}, [ADDRESS], false],
    ['another code', 'zone', 'none.example', {}, [], true],
    ['another code that is wanted', 'zone', 'none.example', {}, [UNKNOWN], false],
    ['NOERROR where another is wanted', 'zone', 'web.example', {}, [UNKNOWN], true],
    ['no answer', 'nothing', 'web.example', {}, [], true],
    ['no answer where a code is wanted', 'nothing', 'web.example', {}, [UNKNOWN], true],
    ['NOERROR that should fail', 'zone', 'web.example', { shouldFail: true }, [], true],
    ['another code that should fail', 'zone', 'none.example', { shouldFail: true }, [], false],
    ['no answer that should fail', 'nothing', 'web.example', { shouldFail: true }, [], false],
    [
      'no answer that should fail, with an assertion',
      'nothing',
      'web.example',
      { shouldFail: true },
      [ADDRESS],
      true,
    ],
  ])('%s', async (_name, serves, query, fields, assertions, hasFailures) => {
    const port = await nameServer(serves);
    const request = { query, nameServer: '127.0.0.1', port, assertions };
    const result = await run('DNS', { ...fields, request });
    expect(result).toMatchObject({ hasFailures, hasErrors: false });
    expect(result?.dnsCheckResult?.requestErrorCode).toBe(
      serves === 'zone' ? null : 'DNS_UNREACHABLE',
    );
    if (serves === 'nothing') {
      const errors = result?.dnsCheckResult?.assertions.map(({ error }) => error);
      expect(errors).toEqual(assertions.map(() => NO_RESPONSE));
    }
  });
});

describe('an ICMP check', () => {
  const AVERAGE = is('LATENCY', 'LESS_THAN', '1000', 'avg');

  it.each<[string, string, CheckFields, object[], boolean]>([
    ['a host that answers', 'localhost', {}, [AVERAGE], false],
    ['one that should not', 'localhost', { shouldFail: true }, [], true],
    ['no such name', 'nowhere.invalid', {}, [], true],
    ['no such name that should fail', 'nowhere.invalid', { shouldFail: true }, [], false],
    [
      'no such name that should fail, with an assertion',
      'nowhere.invalid',
      { shouldFail: true },
      [AVERAGE],
      true,
    ],
  ])('%s', async (_name, hostname, fields, assertions, hasFailures) => {
    const request = { hostname, pingCount: 1, assertions };
    const result = await run('ICMP', { ...fields, request });
    const details = result?.icmpCheckResult;
    if (hostname !== 'localhost') {
      expect(details?.requestErrorCode).toBe('DNS_NXDOMAIN');
      expect(details?.assertions.map(({ error }) => error)).toEqual(
        assertions.map(() => NO_RESPONSE),
      );
    } else if (!mayPing) {
      expect(result).toMatchObject({ hasFailures: false, hasErrors: true });
      return;
    }
    expect(result).toMatchObject({ hasFailures, hasErrors: false });
  });
});
