import { describe, expect, it } from 'vitest';
import { chooseAddresses } from '../../../../src/agent/net/permitted-addresses.ts';
import { JobLog } from '../../../../src/agent/probes/job-log.ts';
import { allowAll, denyNetworks } from '../../../../src/runtime/net/address-guard.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const loopback = denyNetworks([{ text: '127.0.0.0/8', address: '127.0.0.0', prefixBits: 8 }]);

function choose(addresses: readonly [string, ...string[]], guard = allowAll) {
  const log = new JobLog(new FakeClock());
  const choice = chooseAddresses('example.test:80', addresses, { guard, log });
  return { choice, messages: log.entries().map(({ msg }) => msg) };
}

describe('chooseAddresses', () => {
  it('returns all addresses in their order if none is denied', () => {
    const { choice, messages } = choose(['192.0.2.2', '192.0.2.1']);
    expect(choice).toEqual({ ok: true, addresses: ['192.0.2.2', '192.0.2.1'] });
    expect(messages).toEqual([]);
  });

  it('names every denied address with its network', () => {
    const { choice } = choose(['127.0.0.1', '127.0.0.2'], loopback);
    expect(choice).toEqual({
      ok: false,
      failure: {
        code: 'ADDRESS_DENIED',
        message:
          'example.test:80 may not be reached: TARGET_DENY blocks it: 127.0.0.1 is in 127.0.0.0/8, 127.0.0.2 is in 127.0.0.0/8',
      },
    });
  });

  it.each(['0.0.0.0', '::', '0:0:0:0:0:0:0:0', '::ffff:0.0.0.0', '::%lo'])(
    'knows that %s is this machine',
    (address) => {
      expect(choose([address], loopback).choice.ok).toBe(false);
      expect(choose([address]).choice.ok).toBe(true);
    },
  );

  it('leaves out denied addresses and the ninth, and logs that', () => {
    const free = Array.from({ length: 9 }, (_, index) => `192.0.2.${index + 1}`);
    const { choice, messages } = choose(['127.0.0.1', ...free], loopback);
    expect(choice).toEqual({ ok: true, addresses: free.slice(0, 8) });
    expect(messages).toEqual([
      expect.stringContaining('127.0.0.1 is in 127.0.0.0/8'),
      'only the first 8 of 9 addresses are tried',
    ]);
  });
});
