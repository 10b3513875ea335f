import { isIP } from 'node:net';
import type { Resolver } from '../net/resolver.ts';
import type { Endpoint } from '../probes/endpoint.ts';

/**
 * Knows the endpoint's name by no other address than the one that was tried, and all else as the
 * resolver does: a name with several addresses would lead a repeated attempt to another one than
 * the capture and the trace are about.
 */
export function pinnedTo({ hostname, address }: Endpoint, resolver: Resolver): Resolver {
  if (address === null || isIP(hostname) !== 0) return resolver;
  const ofFamily = isIP(address);
  return {
    resolve(name, family, options) {
      if (name !== hostname || family !== ofFamily) return resolver.resolve(name, family, options);
      return Promise.resolve({ ok: true, addresses: [address] });
    },
  };
}
