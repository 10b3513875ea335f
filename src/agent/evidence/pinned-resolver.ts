import { isIP } from 'node:net';
import type { Resolver } from '../net/resolver.ts';
import type { Endpoint } from '../probes/endpoint.ts';

/**
 * Resolves the endpoint's name to the address that was tried, and all other names as `resolver`
 * does. Otherwise a repeated attempt could use another address than the capture and the trace.
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
