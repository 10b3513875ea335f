import { describe, expect, it } from 'vitest';
import { ServiceLinkBase } from '../../../../src/service/outgoing/link-base.ts';

function listening(publicUrl: string | null, host: string, port: number): string | null {
  const base = new ServiceLinkBase(publicUrl);
  base.listensAt(host, port);
  return base.url;
}

describe('ServiceLinkBase', () => {
  it('gives no links before the address is known', () => {
    expect(new ServiceLinkBase(null).url).toBeNull();
    expect(listening(null, '127.0.0.1', 0)).toBeNull();
  });

  it('leads to the address that the service listens on', () => {
    expect(listening(null, '127.0.0.1', 9080)).toBe('http://127.0.0.1:9080');
    expect(listening(null, '::1', 9080)).toBe('http://[::1]:9080');
  });

  it('leads to the loopback address where the service listens on all addresses', () => {
    expect(listening(null, '0.0.0.0', 9080)).toBe('http://127.0.0.1:9080');
    expect(listening(null, '::', 9080)).toBe('http://[::1]:9080');
  });

  it('leads to PUBLIC_URL whatever the service listens on', () => {
    const publicUrl = 'https://status.example.org';
    expect(listening(publicUrl, '127.0.0.1', 9080)).toBe(publicUrl);
  });
});
