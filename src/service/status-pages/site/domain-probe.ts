import { promises as dns } from 'node:dns';
import type { Proxies } from '../../../runtime/net/proxy/choose-proxy.ts';
import { createOutgoingHttp } from '../../outgoing/outgoing-http.ts';
import type { ReachableAddresses } from '../../outgoing/reachable-addresses.ts';
import type { DomainProbe } from './domain-check.ts';

/** Each name server is asked for this long, twice. */
const RESOLVE = { timeout: 2_000, tries: 2 };

/** Asks name servers, and opens addresses that DELIVERY_DENY and DELIVERY_ALLOW let it reach. */
export function createDomainProbe(reachable: ReachableAddresses, proxies: Proxies): DomainProbe {
  return {
    async resolve(domain, signal) {
      const resolver = new dns.Resolver(RESOLVE);
      const cancel = (): void => resolver.cancel();
      signal.addEventListener('abort', cancel, { once: true });
      const found = <Value>(records: Promise<readonly Value[]>): Promise<readonly Value[]> =>
        records.catch(() => []);
      try {
        const [four, six, aliases] = await Promise.all([
          found(resolver.resolve4(domain)),
          found(resolver.resolve6(domain)),
          found(resolver.resolveCname(domain)),
        ]);
        return { addresses: [...four, ...six], cname: aliases[0] ?? null };
      } finally {
        signal.removeEventListener('abort', cancel);
      }
    },

    async fetch(url, signal) {
      const http = createOutgoingHttp(reachable, proxies);
      const request = { method: 'GET', url, headers: {}, body: null, isGuarded: true } as const;
      const outcome = await http.send(request, signal);
      await http.close();
      const { status, answer } = outcome;
      return { status, answer: answer ?? '', error: outcome.ok ? null : outcome.error };
    },
  };
}
