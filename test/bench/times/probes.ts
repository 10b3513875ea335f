import type { Wire } from './wire.ts';

/** A TCP connection alone, a DNS query over UDP, a request, and a request over TLS. */
export const KINDS = ['tcp', 'dns', 'http', 'https'] as const;
export type Kind = (typeof KINDS)[number];

export const NAME = 'bench.test';

/** The target of the nth probe; each has its own. */
export interface Probe {
  readonly kind: Kind;
  readonly hostname: string;
  readonly port: number;
  /** `address:port`. */
  readonly server: string;
}

export function probeOf(wire: Wire, n: number): Probe {
  const kind = KINDS[n % KINDS.length] ?? 'tcp';
  const { hostname, port } = placeOf(wire, kind, n);
  return { kind, hostname, port, server: `${hostname}:${port}` };
}

function placeOf(wire: Wire, kind: Kind, n: number) {
  if (kind === 'https') return wire.secureServer(Math.floor(n / KINDS.length));
  return kind === 'dns' ? wire.nameServer(n) : wire.plainServer(n);
}
