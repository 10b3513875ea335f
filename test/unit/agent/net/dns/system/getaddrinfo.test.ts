import { describe, expect, it } from 'vitest';
import { CLibrary, mayKnow } from '../../../../../../src/agent/net/dns/system/getaddrinfo.ts';
import { FakeClock, settle } from '../../../../../support/fake-clock.ts';

/** A getaddrinfo that the test answers. */
function slowLibrary() {
  const calls: { name: string; answer: (addresses: string[]) => void; fail: (e: Error) => void }[] =
    [];
  const library = new CLibrary(
    (name) => new Promise((resolve, reject) => calls.push({ name, answer: resolve, fail: reject })),
  );
  return { calls, library };
}

function limitsOf(clock: FakeClock, signal = new AbortController().signal) {
  return { clock, signal, deadlineMs: clock.monotonicMs() + 5000 };
}

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

describe('CLibrary', () => {
  it('runs at most two look-ups at once, and starts the next when one ends', async () => {
    const clock = new FakeClock();
    const { calls, library } = slowLibrary();
    const finds = ['a', 'b', 'c'].map((name) => library.find(name, 4, limitsOf(clock)));
    await settle();
    expect(calls.map(({ name }) => name)).toEqual(['a', 'b']);
    calls[0]?.answer(['192.0.2.1']);
    expect(await finds[0]).toEqual({ kind: 'found', addresses: ['192.0.2.1'] });
    await settle();
    expect(calls.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    calls[1]?.answer([]);
    calls[2]?.fail(systemError('ENOTFOUND'));
    expect(await finds[1]).toMatchObject({ failure: { code: 'DNS_NXDOMAIN' } });
    expect(await finds[2]).toMatchObject({ failure: { code: 'DNS_NXDOMAIN' } });
    expect(clock.pendingTimers).toBe(0);
  });

  it('counts a call that the C library has not returned, even if its look-up timed out', async () => {
    const clock = new FakeClock();
    const { calls, library } = slowLibrary();
    const finds = ['a', 'b', 'c'].map((name) => library.find(name, 4, limitsOf(clock)));
    await clock.advance(5000);
    for (const find of finds) {
      expect(await find).toMatchObject({ kind: 'missed', failure: { code: 'DNS_TIMEOUT' } });
    }
    const later = library.find('d', 4, limitsOf(clock));
    await settle();
    expect(calls).toHaveLength(2);
    calls[0]?.answer([]);
    await settle();
    expect(calls.map(({ name }) => name)).toEqual(['a', 'b', 'd']);
    calls[2]?.answer(['192.0.2.4']);
    expect(await later).toMatchObject({ kind: 'found' });
  });

  it('ends when the run is cancelled', async () => {
    const clock = new FakeClock();
    const { library } = slowLibrary();
    const controller = new AbortController();
    const find = library.find('a', 4, limitsOf(clock, controller.signal));
    controller.abort();
    expect(await find).toMatchObject({ kind: 'aborted', failure: { code: 'CANCELLED' } });
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([
    ['EAI_AGAIN', 'DNS_SERVFAIL'],
    ['EAI_FAIL', 'DNS_ERROR'],
  ])('distinguishes %s from an unknown name', async (systemCode, code) => {
    const { calls, library } = slowLibrary();
    const find = library.find('a', 4, limitsOf(new FakeClock()));
    calls[0]?.fail(systemError(systemCode));
    expect(await find).toMatchObject({ kind: 'missed', failure: { code } });
  });
});

it.each([
  ['files', 'web.local.', false],
  ['dns', 'web.local.', false],
  ['mdns4_minimal', 'printer.local.', true],
  ['mdns4_minimal', 'www.example.com.', false],
  ['mymachines', 'container.', true],
  ['mymachines', 'www.example.com.', false],
  ['myhostname', '_gateway.', true],
  ['myhostname', 'www.example.com.', false],
  ['resolve', 'www.example.com.', true],
  ['ldap', 'www.example.com.', true],
  ['sss', 'www.example.com.', true],
])('with the source %s and the name %s, asking is worthwhile: %s', (source, name, expected) => {
  expect(mayKnow({ name: source, returnOn: new Set() }, name, false)).toBe(expected);
});

it('a source resolve is skipped if systemd-resolved has answered as the name server', () => {
  expect(mayKnow({ name: 'resolve', returnOn: new Set() }, 'www.example.com.', true)).toBe(false);
});
