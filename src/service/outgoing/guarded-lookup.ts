import { lookup as lookUp } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { withoutBrackets } from '../../runtime/net/endpoint-text.ts';
import { type ConnectLimits, withinLimits } from './connect-limits.ts';
import type { ReachableAddresses } from './reachable-addresses.ts';

export const DENIED_CODE = 'VEDETTE_DENIED';
/** The resolver's own code for a timeout. */
const LATE_CODE = 'ETIMEOUT';

class DeniedError extends Error {
  readonly code = DENIED_CODE;
}

/** The error does not contain the address: readers of the log must not learn about the service's network. */
function denied(hostname: string, reason: string): DeniedError {
  return new DeniedError(`${hostname} may not be reached: ${reason}`);
}

/**
 * Checks the host of a URL if it is an address, which needs no lookup.
 *
 * @throws an Error with the code DENIED_CODE
 */
export function refuseDenied(hostname: string, { guard, reason }: ReachableAddresses): void {
  const bare = withoutBrackets(hostname);
  if (isIP(bare) === 0) return;
  if (guard.deniedBy(bare) !== null) throw denied(bare, reason);
}

/** A lookup for sockets that returns no denied addresses: sockets connect only to addresses that were checked. */
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
 * Resolves a host to the addresses that may be reached, in the order of the system's resolver. That has long
 * timeouts of its own and cannot be cancelled.
 *
 * @throws an Error with the code DENIED_CODE or that of the look-up, or the reason of the signal
 */
export function checkedAddresses(
  hostname: string,
  reachable: ReachableAddresses,
  limits: ConnectLimits,
): Promise<readonly string[]> {
  const bare = withoutBrackets(hostname);
  const found = new Promise<readonly string[]>((resolve, reject) => {
    refuseDenied(bare, reachable);
    guardedLookup(reachable)(bare, { all: true }, (error, found) => {
      if (error !== null) reject(error);
      else resolve([found].flat().map((each) => (typeof each === 'string' ? each : each.address)));
    });
  });
  const late = () =>
    Object.assign(new Error(`no answer within ${limits.timeoutMs / 1000} s`), { code: LATE_CODE });
  return withinLimits(found, limits, late);
}
