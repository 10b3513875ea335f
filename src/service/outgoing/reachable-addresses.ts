import { isIP } from 'node:net';
import { network, type Parsed } from '../../runtime/config/parsers.ts';
import { type AddressGuard, denyNetworks, type Network } from '../../runtime/net/address-guard.ts';
import { hostKey } from '../../runtime/net/host-names.ts';

/** Which addresses may be reached, and why others may not. */
export interface ReachableAddresses {
  readonly guard: AddressGuard;
  /** Whether all addresses of a name may be reached, without checking them. */
  allowsName(hostname: string): boolean;
  /** Follows `may not be reached: `. */
  readonly reason: string;
}

/** A name of DELIVERY_ALLOW. */
export interface AllowedName {
  /** The name in the form of hostKey. */
  readonly name: string;
  /** Whether the entry matches all names below it instead of the name itself. */
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
  // Dotted numbers that are not an address (10.0.0.256) cannot be a host name.
  if (name === '' || /^[\d.]+$/.test(name)) return { ok: false, culprit: text };
  return { ok: true, value: { name: hostKey(name), isBelow: wildcard !== undefined } };
}

/** The reason for addresses in a network of DELIVERY_DENY. */
export const DELIVERY_DENY_REASON = 'DELIVERY_DENY denies its network';

/** The addresses that DELIVERY_DENY does not deny or DELIVERY_ALLOW allows. */
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

/** The addresses that the guard allows, regardless of DELIVERY_ALLOW. */
export function guardedAddresses(guard: AddressGuard, reason: string): ReachableAddresses {
  return { guard, allowsName: () => false, reason };
}
