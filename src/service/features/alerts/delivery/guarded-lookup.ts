import { lookup as lookUp } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { AddressGuard } from '../../../../runtime/address-guard.ts';

/** Told by the code of the error, never by its text. */
export const DENIED_CODE = 'VEDETTE_DENIED';

class DeniedError extends Error {
  readonly code = DENIED_CODE;
}

function denied(hostname: string, address: string, network: string): DeniedError {
  const where = hostname === address ? address : `${hostname} (${address})`;
  return new DeniedError(`${where} may not be reached: DELIVERY_DENY shuts out ${network}`);
}

/**
 * For an address that stands in a URL itself, which no look-up is made for.
 *
 * @throws an Error with the code DENIED_CODE
 */
export function refuseDenied(hostname: string, guard: AddressGuard): void {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(bare) === 0) return;
  const network = guard.deniedBy(bare);
  if (network !== null) throw denied(bare, bare, network);
}

/** A look-up for sockets that gives no denied address: what is connected to is what was judged. */
export function guardedLookup(guard: AddressGuard): LookupFunction {
  return (hostname, options, callback) => {
    lookUp(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) {
        callback(error, []);
        return;
      }
      const free = addresses.filter(({ address }) => guard.deniedBy(address) === null);
      const [first] = free;
      if (first === undefined) {
        const address = addresses[0]?.address ?? hostname;
        callback(denied(hostname, address, guard.deniedBy(address) ?? 'it'), []);
      } else if (options.all === true) {
        callback(null, free);
      } else {
        callback(null, first.address, first.family);
      }
    });
  };
}
