import { lookup as lookUp } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { AddressGuard } from '../../../runtime/net/address-guard.ts';

/** Told by the code of the error, never by its text. */
export const DENIED_CODE = 'VEDETTE_DENIED';

class DeniedError extends Error {
  readonly code = DENIED_CODE;
}

/** Names what was asked for alone: whoever reads it need not know the addresses of the service's network. */
function denied(hostname: string): DeniedError {
  return new DeniedError(`${hostname} may not be reached: DELIVERY_DENY shuts its network out`);
}

/**
 * For an address that stands in a URL itself, which no look-up is made for.
 *
 * @throws an Error with the code DENIED_CODE
 */
export function refuseDenied(hostname: string, guard: AddressGuard): void {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(bare) === 0) return;
  if (guard.deniedBy(bare) !== null) throw denied(bare);
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
        callback(denied(hostname), []);
      } else if (options.all === true) {
        callback(null, free);
      } else {
        callback(null, first.address, first.family);
      }
    });
  };
}
