import { describe, expect, it } from 'vitest';
import {
  connectFailure,
  mayMeanNoIpv6,
  targetText,
} from '../../../../src/agent/net/connect-failures.ts';

describe('connectFailure', () => {
  it.each([
    ['ECONNREFUSED', 'CONNECT_REFUSED'],
    ['ETIMEDOUT', 'CONNECT_TIMEOUT'],
    ['EHOSTUNREACH', 'CONNECT_UNREACHABLE'],
    ['ENETUNREACH', 'CONNECT_UNREACHABLE'],
    ['ECONNRESET', 'CONNECT_RESET'],
    ['EACCES', 'CONNECT_FAILED'],
    ['EINVAL', 'CONNECT_FAILED'],
    ['UNKNOWN', 'CONNECT_FAILED'],
    // A shortage of this machine is never the fault of the target.
    ['EMFILE', 'INTERNAL_ERROR'],
    ['ENFILE', 'INTERNAL_ERROR'],
    ['EADDRNOTAVAIL', 'INTERNAL_ERROR'],
  ])('reports %s as %s', (systemCode, code) => {
    const failure = connectFailure(
      'example.test:443 (192.0.2.1)',
      { ok: false, ended: 'error', systemCode },
      0.44,
    );
    expect(failure.code).toBe(code);
    expect(failure.message).toMatch(/^example\.test:443 \(192\.0\.2\.1\) .+ after 0\.4 ms\)$/);
    expect(failure.message).toContain(systemCode);
  });

  it('reports how often the SYN was sent again', () => {
    const timeUp = { ok: false, ended: 'time-up', synsRepeated: 1 } as const;
    expect(connectFailure('192.0.2.1:80', timeUp, 2500).message).toBe(
      '192.0.2.1:80 did not answer within 2500 ms, though the SYN was sent again after 1 s',
    );
    const often = { ...timeUp, synsRepeated: 5 };
    expect(connectFailure('192.0.2.1:80', often, 30_000).message).toBe(
      '192.0.2.1:80 did not answer within 30000 ms, though the SYN was sent again 5 times, the first time after 1 s',
    );
  });

  it('distinguishes a timeout from a cancellation', () => {
    const target = '192.0.2.1:80';
    const timeUp = { ok: false, ended: 'time-up', synsRepeated: 0 } as const;
    expect(connectFailure(target, timeUp, 30_000.4)).toEqual({
      code: 'CONNECT_TIMEOUT',
      message: '192.0.2.1:80 did not answer within 30000 ms',
    });
    expect(connectFailure(target, { ok: false, ended: 'cancelled' }, 1).code).toBe('CANCELLED');
  });
});

describe('mayMeanNoIpv6', () => {
  it.each(['ENETUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT'])('takes %s for it', (code) => {
    expect(mayMeanNoIpv6(code)).toBe(true);
  });

  it.each(['ECONNREFUSED', 'EHOSTUNREACH', 'ETIMEDOUT'])('does not take %s for it', (code) => {
    expect(mayMeanNoIpv6(code)).toBe(false);
  });
});

describe('targetText', () => {
  it.each([
    ['example.test', '192.0.2.1', 'example.test:443 (192.0.2.1)'],
    ['example.test', '2001:db8::1', 'example.test:443 (2001:db8::1)'],
    ['192.0.2.1', '192.0.2.1', '192.0.2.1:443'],
    ['2001:db8::1', '2001:db8::1', '[2001:db8::1]:443'],
  ])('names %s at %s', (hostname, address, text) => {
    expect(targetText(hostname, 443, address)).toBe(text);
  });
});
