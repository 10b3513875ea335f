import { promises as dns } from 'node:dns';
import type { AddressGuard } from '../../../runtime/net/address-guard.ts';
import { createOutgoingHttp } from '../../outgoing/outgoing-http.ts';
import type { DomainProbe } from './domain-check.ts';

/** Each name server is asked for this long, twice. */
const RESOLVE = { timeout: 2_000, tries: 2 };

/** Asks name servers, and opens addresses that the guard of DELIVERY_DENY allows. */
export function createDomainProbe(guard: AddressGuard): DomainProbe {
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
      const http = createOutgoingHttp(guard);
      const request = { method: 'GET', url, headers: {}, body: null, isGuarded: true } as const;
      const outcome = await http.send(request, signal);
      await http.close();
      const { status, answer } = outcome;
      return { status, answer: answer ?? '', error: outcome.ok ? null : outcome.error };
    },
  };
}
