import { isIP } from 'node:net';
import { network, type Parsed } from '../../runtime/config/parsers.ts';
import { type AddressGuard, denyNetworks, type Network } from '../../runtime/net/address-guard.ts';
import { hostKey } from '../../runtime/net/host-names.ts';

/** Which addresses may be reached, and why others may not. */
export interface ReachableAddresses {
  readonly guard: AddressGuard;
  /** Whether all addresses of a name may be reached, so that none is checked. */
  allowsName(hostname: string): boolean;
  /** Follows `may not be reached: `. */
  readonly reason: string;
}

/** A name of DELIVERY_ALLOW. */
export interface AllowedName {
  /** As hostKey writes it. */
  readonly name: string;
  /** All names below it, and not the name itself. */
  readonly isBelow: boolean;
}

/** DELIVERY_ALLOW. */
export type Allowed = Network | AllowedName;

const NAME = /^(\*\.)?((?:[\p{L}\p{N}_-]+\.)*[\p{L}\p{N}_-]+\.?)$/u;

/** A network, an address, a name, or `*.name` for all names below it. */
export function allowedEntry(text: string): Parsed<Allowed> {
  const parsed = network(text);
  if (parsed.ok) return parsed;
  const [, wildcard, name = ''] = NAME.exec(text) ?? [];
  // Dotted numbers that are no address (10.0.0.256) can be no receiver.
  if (name === '' || /^[\d.]+$/.test(name)) return { ok: false, culprit: text };
  return { ok: true, value: { name: hostKey(name), isBelow: wildcard !== undefined } };
}

/** Why an address of which DELIVERY_DENY has the network may not be reached. */
export const DELIVERY_DENY_REASON = 'DELIVERY_DENY denies its network';

/** What DELIVERY_DENY does not deny, or DELIVERY_ALLOW allows. */
export function reachableAddresses({
  deny,
  allow,
}: {
  readonly deny: readonly Network[];
  readonly allow: readonly Allowed[];
}): ReachableAddresses {
  const networks = allow.filter((each) => 'address' in each);
  const names = allow.filter((each) => 'name' in each);
  return {
    guard: denyNetworks(deny, networks),
    allowsName(hostname) {
      const key = hostKey(hostname);
      if (isIP(key) !== 0) return false;
      return names.some(({ name, isBelow }) => (isBelow ? key.endsWith(`.${name}`) : key === name));
    },
    reason: DELIVERY_DENY_REASON,
  };
}

/** What the guard allows, whatever DELIVERY_ALLOW has. */
export function guardedAddresses(guard: AddressGuard, reason: string): ReachableAddresses {
  return { guard, allowsName: () => false, reason };
}
