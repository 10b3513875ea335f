import { lookup as lookUp } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { AddressGuard } from '../../runtime/net/address-guard.ts';

export const DENIED_CODE = 'VEDETTE_DENIED';

class DeniedError extends Error {
  readonly code = DENIED_CODE;
}

/** Does not name the address: readers of the log must not learn the service's network. */
function denied(hostname: string, reason: string): DeniedError {
  return new DeniedError(`${hostname} may not be reached: ${reason}`);
}

/** Which addresses may be reached, and why others may not. */
export interface ReachableAddresses {
  readonly guard: AddressGuard;
  /** Follows `may not be reached: `. */
  readonly reason: string;
}

/**
 * For a URL whose host is an address, which needs no lookup.
 *
 * @throws an Error with the code DENIED_CODE
 */
export function refuseDenied(hostname: string, { guard, reason }: ReachableAddresses): void {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(bare) === 0) return;
  if (guard.deniedBy(bare) !== null) throw denied(bare, reason);
}

/** A lookup for sockets without denied addresses: the socket connects to the address it checked. */
export function guardedLookup({ guard, reason }: ReachableAddresses): LookupFunction {
  return (hostname, options, callback) => {
    lookUp(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) {
        callback(error, []);
        return;
      }
      const allowed = addresses.filter(({ address }) => guard.deniedBy(address) === null);
      const [first] = allowed;
      if (first === undefined) {
        callback(denied(hostname, reason), []);
      } else if (options.all === true) {
        callback(null, allowed);
      } else {
        callback(null, first.address, first.family);
      }
    });
  };
}
