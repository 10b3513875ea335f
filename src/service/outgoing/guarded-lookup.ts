import { lookup as lookUp } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { withoutBrackets } from '../../runtime/net/endpoint-text.ts';
import type { ReachableAddresses } from './reachable-addresses.ts';

export const DENIED_CODE = 'VEDETTE_DENIED';

class DeniedError extends Error {
  readonly code = DENIED_CODE;
}

/** Does not name the address: readers of the log must not learn the service's network. */
function denied(hostname: string, reason: string): DeniedError {
  return new DeniedError(`${hostname} may not be reached: ${reason}`);
}

/**
 * For a URL whose host is an address, which needs no lookup.
 *
 * @throws an Error with the code DENIED_CODE
 */
export function refuseDenied(hostname: string, { guard, reason }: ReachableAddresses): void {
  const bare = withoutBrackets(hostname);
  if (isIP(bare) === 0) return;
  if (guard.deniedBy(bare) !== null) throw denied(bare, reason);
}

/** A lookup for sockets without denied addresses: the socket connects to the address it checked. */
export function guardedLookup(reachable: ReachableAddresses): LookupFunction {
  const { guard, reason } = reachable;
  return (hostname, options, callback) => {
    lookUp(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) {
        callback(error, []);
        return;
      }
      const isAllowed = reachable.allowsName(hostname);
      const allowed = addresses.filter(
        ({ address }) => isAllowed || guard.deniedBy(address) === null,
      );
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

/**
 * The addresses of a host that may be reached, in the order of the system's resolver.
 *
 * @throws an Error with the code DENIED_CODE, or that of the look-up
 */
export function checkedAddresses(
  hostname: string,
  reachable: ReachableAddresses,
): Promise<readonly string[]> {
  const bare = withoutBrackets(hostname);
  return new Promise((resolve, reject) => {
    refuseDenied(bare, reachable);
    guardedLookup(reachable)(bare, { all: true }, (error, found) => {
      if (error !== null) reject(error);
      else resolve([found].flat().map((each) => (typeof each === 'string' ? each : each.address)));
    });
  });
}
