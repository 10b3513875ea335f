import { describe, expect, it } from 'vitest';
import { network } from '../../../../src/runtime/config/parsers.ts';
import { denyNetworks } from '../../../../src/runtime/net/address-guard.ts';
import {
  DENIED_CODE,
  guardedLookup,
  refuseDenied,
} from '../../../../src/service/outgoing/guarded-lookup.ts';
import { guardedAddresses } from '../../../../src/service/outgoing/reachable-addresses.ts';

function guardOf(...texts: readonly string[]) {
  const networks = texts.flatMap((text) => {
    const parsed = network(text);
    return parsed.ok ? [parsed.value] : [];
  });
  return guardedAddresses(denyNetworks(networks), 'DELIVERY_DENY denies its network');
}

describe('denied addresses', () => {
  it.each([
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '[::1]',
    '[::ffff:7f00:1]',
    '[64:ff9b::127.0.0.1]',
    '[64:ff9b:1::127.0.0.1]',
    '[2002:7f00:1::]',
    '[::127.0.0.1]',
    '[2001:0:7f00:1::]',
  ])('are refused in a URL: %s', (hostname) => {
    const { hostname: written } = new URL(`http://${hostname}/`);
    expect(() => refuseDenied(written, guardOf('127.0.0.0/8', '::1'))).toThrow('DELIVERY_DENY');
    refuseDenied(written, guardOf('10.0.0.0/8'));
  });

  it.each([true, false])('are left out of what a name leads to (all: %s)', async (all) => {
    const look = (...denied: readonly string[]) =>
      new Promise<unknown>((resolve) => {
        guardedLookup(guardOf(...denied))('localhost', { all }, (error, address) =>
          resolve(error === null ? address : error.code),
        );
      });
    expect(await look('127.0.0.0/8', '::1')).toBe(DENIED_CODE);
    expect(await look('192.0.2.0/24')).toBeTruthy();
    expect(await look('192.0.2.0/24')).not.toBe(DENIED_CODE);
  });
});
