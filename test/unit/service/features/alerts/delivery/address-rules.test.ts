import { describe, expect, it } from 'vitest';
import { network } from '../../../../../../src/runtime/config/parsers.ts';
import {
  addressRules,
  DENIED_CODE,
  guardedLookup,
  refuseDenied,
} from '../../../../../../src/service/features/alerts/delivery/address-rules.ts';

function rulesOf(...texts: readonly string[]) {
  return addressRules(
    texts.flatMap((text) => {
      const parsed = network(text);
      return parsed.ok ? [parsed.value] : [];
    }),
  );
}

describe('addresses that may not be reached', () => {
  it.each([
    ['127.0.0.1', '127.0.0.0/8'],
    ['::ffff:127.0.0.1', '127.0.0.0/8'],
    ['10.1.2.3', null],
    ['fd00::1', 'fd00::/8'],
    ['fe80::1%eth0', 'fe80::/10'],
  ])('%s is in %s', (address, holder) => {
    expect(rulesOf('127.0.0.0/8', 'fd00::/8', 'fe80::/10').deniedBy(address)).toBe(holder);
  });

  it('of all of IPv6 leave IPv4', () => {
    expect(rulesOf('::/0').deniedBy('192.0.2.1')).toBeNull();
    expect(rulesOf('0.0.0.0/0').deniedBy('2001:db8::1')).toBeNull();
  });

  it.each(['127.0.0.1', '[::1]', '[::ffff:7f00:1]'])('are refused in a URL: %s', (hostname) => {
    const { hostname: written } = new URL(`http://${hostname}/`);
    expect(() => refuseDenied(written, rulesOf('127.0.0.0/8', '::1'))).toThrow('DELIVERY_DENY');
    refuseDenied(written, rulesOf('10.0.0.0/8'));
  });

  it.each([true, false])('are left out of what a name leads to (all: %s)', async (all) => {
    const look = (...denied: readonly string[]) =>
      new Promise<unknown>((resolve) => {
        guardedLookup(rulesOf(...denied))('localhost', { all }, (error, address) =>
          resolve(error === null ? address : error.code),
        );
      });
    expect(await look('127.0.0.0/8', '::1')).toBe(DENIED_CODE);
    expect(await look('192.0.2.0/24')).toBeTruthy();
    expect(await look('192.0.2.0/24')).not.toBe(DENIED_CODE);
  });
});
